/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What every page has around it. Its policy allows the one style sheet inside
 * it, by its sum, and nothing more: no script, no picture, no request. */
#include <sha256.h>
#include <string.h>

#include "html_page.h"
#include "unit_name.h"

enum { BASE64_BYTES = (SHA256_DIGEST_LENGTH + 2) / 3 * 4 + 1 };

static void base64(
    const unsigned char bytes[SHA256_DIGEST_LENGTH], char out[BASE64_BYTES])
{
    /* The last one fills up. */
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
    size_t at = 0;

    for (size_t i = 0; i < SHA256_DIGEST_LENGTH; i += 3) {
        const size_t left = SHA256_DIGEST_LENGTH - i;
        const unsigned second = left > 1 ? bytes[i + 1] : 0;
        const unsigned third = left > 2 ? bytes[i + 2] : 0;
        const unsigned word = (unsigned)bytes[i] << 16 | second << 8 | third;

        out[at++] = digits[word >> 18];
        out[at++] = digits[word >> 12 & 63];
        out[at++] = digits[left > 1 ? word >> 6 & 63 : 64];
        out[at++] = digits[left > 2 ? word & 63 : 64];
    }
    out[at] = '\0';
}

static void add_policy(const struct html *page)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    char sum[BASE64_BYTES];
    SHA2_CTX context;

    SHA256Init(&context);
    SHA256Update(
        &context, (const uint8_t *)report_page_css, strlen(report_page_css));
    SHA256Final(digest, &context);
    base64(digest, sum);
    html_add(page, "<meta http-equiv=\"Content-Security-Policy\" "
                   "content=\"default-src 'none'; style-src 'sha256-");
    html_add(page, sum);
    html_add(page, "'; base-uri 'none'; form-action 'none'\">\n");
}

void html_open(const struct html *page, const char *word, const char *title)
{
    html_add(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                   "<meta charset=\"utf-8\">\n");
    add_policy(page);
    html_add(page, "<meta name=\"viewport\" content=\"width=device-width\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n"
                   "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    html_text(page, word);
    html_add(page, ": ");
    html_text(page, title);
    html_add(page, "</title>\n<style>");
    html_add(page, report_page_css);
    html_add(page, "</style>\n</head>\n<body>\n");
}

void html_suite(const struct html *page, const struct unit *unit)
{
    const char *const id = unit_suite_id(&page->input->evidence->plan, unit);

    if (id != NULL) {
        html_add(page, " (");
        html_text(page, id);
        html_add(page, ")");
    }
}

void html_close(const struct html *page)
{
    html_add(page, "</main>\n</body>\n</html>\n");
}
