// SPDX-License-Identifier: Apache-2.0
// The (72,64) code against an implementation that shares nothing with it: a parity check matrix of
// bits, multiplied out.
#include "kmod-sim/host/model.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using Word = std::bitset<72>; // 0..63 data, 64..71 check
using Syndrome = std::bitset<8>;

// H: 8 rows of 72 columns. Data columns are all words of weight 3 in order of their lowest, middle
// and highest bit, then the turns of five ones; check columns are the unit matrix.
class Matrix {
  public:
    Matrix() {
        int column = 0;
        for (int low = 0; low < 8; ++low)
            for (int middle = low + 1; middle < 8; ++middle)
                for (int high = middle + 1; high < 8; ++high, ++column)
                    for (const int row : {low, middle, high})
                        row_[row].set(column);
        for (int turn = 0; turn < 8; ++turn, ++column)
            for (int bit = 0; bit < 5; ++bit)
                row_[(bit + turn) % 8].set(column);
        for (int row = 0; row < 8; ++row)
            row_[row].set(64 + row);
    }

    Syndrome syndrome(const Word& word) const {
        Syndrome out;
        for (int row = 0; row < 8; ++row)
            out[row] = ((row_[row] & word).count() & 1) != 0;
        return out;
    }

    Syndrome column(int bit) const {
        Syndrome out;
        for (int row = 0; row < 8; ++row)
            out[row] = row_[row][bit];
        return out;
    }

    std::size_t weight(int row) const { return row_[row].count(); }

  private:
    std::array<Word, 8> row_;
};

const Matrix kMatrix;

Word stored(std::uint64_t data, std::uint8_t check) {
    Word word(data);
    for (int bit = 0; bit < 8; ++bit)
        word[64 + bit] = (check >> bit) & 1;
    return word;
}

// Data words to try: corners and a fixed random lot.
std::vector<std::uint64_t> samples() {
    std::vector<std::uint64_t> out = {
        0, ~0ULL, 1, 1ULL << 63, 0xAAAAAAAAAAAAAAAAULL, 0x0123456789ABCDEFULL};
    std::mt19937_64 random(11);
    while (out.size() < 10)
        out.push_back(random());
    return out;
}

struct Outcome {
    secded_result result;
    std::uint64_t data;
    std::uint8_t syndrome;
    bool operator==(const Outcome&) const = default;
};

Outcome decode(std::uint64_t data, std::uint8_t check) {
    Outcome out{SECDED_CLEAN, data, 0};
    out.result = secded_decode(&out.data, check, &out.syndrome);
    return out;
}

// The same by the matrix: a column that equals the syndrome is the bit to turn.
Outcome decode_by_matrix(std::uint64_t data, std::uint8_t check) {
    const Syndrome syndrome = kMatrix.syndrome(stored(data, check));
    Outcome out{SECDED_DETECTED, data, static_cast<std::uint8_t>(syndrome.to_ulong())};
    if (syndrome.none())
        out.result = SECDED_CLEAN;
    for (int bit = 0; bit < 72; ++bit) {
        if (syndrome.none() || kMatrix.column(bit) != syndrome)
            continue;
        out.result = SECDED_CORRECTED;
        if (bit < 64)
            out.data ^= 1ULL << bit;
    }
    return out;
}

struct Stored {
    std::uint64_t data;
    std::uint8_t check;
    void flip(int bit) {
        if (bit < 64)
            data ^= 1ULL << bit;
        else
            check = static_cast<std::uint8_t>(check ^ (1U << (bit - 64)));
    }
};

TEST(Secded, MatrixIsAHsiaoCode) {
    for (int row = 0; row < 8; ++row)
        EXPECT_EQ(kMatrix.weight(row), 27u) << "rows are balanced";
    for (int a = 0; a < 72; ++a) {
        EXPECT_EQ(kMatrix.column(a).count() % 2, 1u);
        for (int b = a + 1; b < 72; ++b)
            EXPECT_NE(kMatrix.column(a), kMatrix.column(b));
    }
}

TEST(Secded, EncodedWordsAreInTheCode) {
    for (const std::uint64_t data : samples()) {
        const std::uint8_t check = secded_encode(data);
        EXPECT_TRUE(kMatrix.syndrome(stored(data, check)).none()) << std::hex << data;
        EXPECT_EQ(decode(data, check), (Outcome{SECDED_CLEAN, data, 0}));
    }
    for (int bit = 0; bit < 64; ++bit) // the code is linear: these fix all others
        EXPECT_EQ(secded_encode(1ULL << bit), kMatrix.column(bit).to_ulong()) << bit;
}

TEST(Secded, All72SingleFlipsAreCorrected) {
    for (const std::uint64_t data : samples()) {
        for (int bit = 0; bit < 72; ++bit) {
            Stored word{data, secded_encode(data)};
            word.flip(bit);
            const Outcome out = decode(word.data, word.check);
            EXPECT_EQ(out.result, SECDED_CORRECTED) << bit;
            EXPECT_EQ(out.data, data) << bit;
            EXPECT_EQ(out.syndrome, kMatrix.column(bit).to_ulong()) << bit;
        }
    }
}

TEST(Secded, All2556DoubleFlipsAreDetected) {
    for (const std::uint64_t data : samples()) {
        int pairs = 0;
        for (int a = 0; a < 72; ++a) {
            for (int b = a + 1; b < 72; ++b, ++pairs) {
                Stored word{data, secded_encode(data)};
                word.flip(a);
                word.flip(b);
                const Outcome out = decode(word.data, word.check);
                ASSERT_EQ(out.result, SECDED_DETECTED) << a << ", " << b;
                ASSERT_EQ(out.data, word.data) << "what cannot be corrected is left as it is";
                ASSERT_EQ(out, decode_by_matrix(word.data, word.check));
            }
        }
        EXPECT_EQ(pairs, 2556);
    }
}

TEST(Secded, AllTripleFlipsDoAsTheCodeDoes) {
    const std::uint64_t data = 0x0123456789ABCDEFULL;
    int triples = 0, miscorrected = 0, detected = 0, through_check = 0;
    for (int a = 0; a < 72; ++a) {
        for (int b = a + 1; b < 72; ++b) {
            for (int c = b + 1; c < 72; ++c, ++triples) {
                Stored word{data, secded_encode(data)};
                word.flip(a);
                word.flip(b);
                word.flip(c);
                const Outcome out = decode(word.data, word.check);
                ASSERT_EQ(out, decode_by_matrix(word.data, word.check))
                    << a << ", " << b << ", " << c;
                ASSERT_NE(out.result, SECDED_CLEAN);
                if (out.result == SECDED_DETECTED)
                    ++detected;
                else if (out.data == data)
                    ++through_check; // wrong bits lie among the check bits alone
                else
                    ++miscorrected;
            }
        }
    }
    EXPECT_EQ(triples, 59640);
    EXPECT_GT(miscorrected, triples / 3);
    EXPECT_GT(detected, triples / 10);
    EXPECT_EQ(through_check + miscorrected + detected, triples);
}

} // namespace
