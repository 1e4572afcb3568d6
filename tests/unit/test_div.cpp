// SPDX-License-Identifier: Apache-2.0
// The core's division against the compiler's.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast" // a header of C code
#include "kmod-sim/core/div.h"
#pragma GCC diagnostic pop

#include <gtest/gtest.h>

#include <random>

namespace {

__extension__ using Wide = unsigned __int128;

void check(std::uint64_t n, std::uint32_t b, std::uint32_t d) {
    std::uint32_t rem = 1, by_shift = 1;
    ASSERT_EQ(div_u64_u32(n, d, &rem), n / d) << n << " / " << d;
    ASSERT_EQ(rem, n % d) << n << " % " << d;
    ASSERT_EQ(div_u64_u32(n, d, nullptr), n / d);
    ASSERT_EQ(div_by_shift(n, d, &by_shift), n / d) << n << " / " << d;
    ASSERT_EQ(by_shift, n % d) << n << " % " << d;
    const Wide quotient = static_cast<Wide>(n) * b / d;
    const std::uint64_t expected =
        quotient >> 64 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(quotient);
    ASSERT_EQ(mul_div_u64(n, b, d), expected) << n << " * " << b << " / " << d;
}

TEST(Division, Edges) {
    const std::uint64_t wide[] = {0,          1,           2,           0x7FFFFFFF, 0x80000000,
                                  0xFFFFFFFF, 0x100000000, 0x100000001, ~0ULL >> 1, ~0ULL};
    const std::uint32_t narrow[] = {1, 2, 3, 1000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    for (const std::uint64_t n : wide)
        for (const std::uint32_t b : narrow)
            for (const std::uint32_t d : narrow)
                check(n, b, d);
    for (const std::uint32_t d : narrow)
        EXPECT_EQ(mul_div_u64(5, 0, d), 0u);
}

TEST(Division, Random) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 300000; ++i) {
        const auto d = static_cast<std::uint32_t>(random() >> (32 + (random() & 31)));
        if (d)
            check(random() >> (random() & 63),
                  static_cast<std::uint32_t>(random() >> (32 + (random() & 31))), d);
    }
}

TEST(Division, ByZeroSaturates) {
    std::uint32_t rem = 7;
    EXPECT_EQ(div_u64_u32(5, 0, &rem), ~0ULL);
    EXPECT_EQ(rem, 0u);
    EXPECT_EQ(mul_div_u64(5, 7, 0), ~0ULL);
}

} // namespace
