/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "transfer_fit.h"

/* Weighted sums of a line y = a + b x with weights 1 / y^2. */
struct sums {
    double w, wx, wxx, wy, wxy;
};

static void add(struct sums *sums, double x, double y)
{
    const double w = 1.0 / (y * y);

    sums->w += w;
    sums->wx += w * x;
    sums->wxx += w * x * x;
    sums->wy += w * y;
    sums->wxy += w * x * y;
}

int transfer_fit_line(const double *bytes, const double *bandwidths,
    uint32_t count, struct transfer_fit *out)
{
    struct sums sums = { .w = 0.0 };

    for (uint32_t i = 0; i < count; i++) {
        if (!(bandwidths[i] > 0.0)) {
            return 0;
        }
        add(&sums, bytes[i], bytes[i] / bandwidths[i]);
    }

    const double spread = sums.w * sums.wxx - sums.wx * sums.wx;

    if (count < TRANSFER_FIT_LEAST || !(spread > 0.0)) {
        return 0;
    }

    double per_byte = (sums.w * sums.wxy - sums.wx * sums.wy) / spread;
    double fixed = (sums.wy - per_byte * sums.wx) / sums.w;

    /* Copies cost no negative time: then the line goes through nothing. */
    if (fixed < 0.0) {
        fixed = 0.0;
        per_byte = sums.wxy / sums.wxx;
    }
    if (!(per_byte > 0.0)) {
        return 0;
    }
    *out =
        (struct transfer_fit){ fixed * 1e9, 1.0 / per_byte, fixed / per_byte };
    return 1;
}
