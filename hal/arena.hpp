// SPDX-License-Identifier: Apache-2.0
// Memory for the calls of one question: given out in order, taken back at once, kept for the next
// one. What lives here must not need its destructor.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace asc::hal {

class Arena {
  public:
    void* take(std::size_t size, std::size_t alignment) {
        used_ = (used_ + alignment - 1) & ~(alignment - 1);
        if (blocks_.empty() || used_ + size > blocks_[current_].size) {
            grow(size + alignment);
            used_ = 0;
        }
        void* place = blocks_[current_].bytes.get() + used_;
        used_ += size;
        return place;
    }
    template <class T, class... Arguments> T& make(Arguments&&... arguments) {
        return *new (take(sizeof(T), alignof(T))) T(std::forward<Arguments>(arguments)...);
    }
    void reset() {
        current_ = 0;
        used_ = 0;
    }

  private:
    static constexpr std::size_t kBlock = 32 * 1024;
    struct Block {
        std::unique_ptr<std::byte[]> bytes;
        std::size_t size;
    };
    void grow(std::size_t size) {
        while (current_ + 1 < blocks_.size())
            if (blocks_[++current_].size >= size)
                return;
        const std::size_t block = size > kBlock ? size : kBlock;
        blocks_.push_back({std::make_unique_for_overwrite<std::byte[]>(block), block});
        current_ = blocks_.size() - 1;
    }

    std::vector<Block> blocks_;
    std::size_t current_ = 0, used_ = 0;
};

} // namespace asc::hal
