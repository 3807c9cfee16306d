/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Groups of parameters that are none (rule C10). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

BAD_TESTCASE("odd_groups", "1", run);

#define KEY(symbol, ...)                                                       \
    static const struct nvbw_param symbol = {                                  \
        .size = sizeof symbol, .name = #symbol, __VA_ARGS__                    \
    };
#define GROUP(name_, list_, default_, ...)                                     \
    static const struct nvbw_param param_##name_ = { .size =                   \
                                                         sizeof param_##name_, \
        .flags = (list_),                                                      \
        .type = NVBW_TYPE_GROUP,                                               \
        .name = "parts",                                                       \
        .default_text = (default_),                                            \
        .members = (const struct nvbw_param *const[]){ __VA_ARGS__ } };        \
    static const struct nvbw_testcase name_ = {                                \
        .size = sizeof name_,                                                  \
        .name = #name_,                                                        \
        .summary = "Breaks one rule.",                                         \
        .params = (const struct nvbw_param *const[]){ &bad_cells,              \
            &param_##name_, NULL },                                            \
        .metrics = (const struct nvbw_metric *const[]){ &bad_figure, NULL },   \
        .run = run,                                                            \
    };

KEY(plain, .type = NVBW_TYPE_TEXT)
KEY(with_list, .type = NVBW_TYPE_TEXT, .flags = NVBW_PARAM_LIST)
KEY(wrong_default, .type = NVBW_TYPE_SIZE, .default_text = "many")
KEY(within, .type = NVBW_TYPE_GROUP,
    .members = (const struct nvbw_param *const[]){ &plain, NULL })

GROUP(group_no_list, 0, NULL, &plain, NULL)
GROUP(group_with_default, NVBW_PARAM_LIST, "plain", &plain, NULL)
GROUP(group_without_keys, NVBW_PARAM_LIST, NULL, NULL)
GROUP(group_of_groups, NVBW_PARAM_LIST, NULL, &within, NULL)
GROUP(group_of_lists, NVBW_PARAM_LIST, NULL, &with_list, NULL)
GROUP(group_key_twice, NVBW_PARAM_LIST, NULL, &plain, &plain, NULL)
GROUP(group_bad_key, NVBW_PARAM_LIST, NULL, &wrong_default, NULL)

#pragma GCC diagnostic ignored "-Woverride-init"
const struct nvbw_plugin nvbw_plugin_v1 = {
    BAD_MEMBERS("odd_groups"),
    .testcases =
        (const struct nvbw_testcase *const[]){ &bad_testcase, &group_no_list,
            &group_with_default, &group_without_keys, &group_of_groups,
            &group_of_lists, &group_key_twice, &group_bad_key, NULL },
};
