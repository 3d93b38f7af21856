#include "supervisor/verify/judging.hpp"

#include "supervisor/verify/in_process_item.hpp"
#include "supervisor/verify/separate_item.hpp"
#include "supervisor/verify/stdio_item.hpp"

namespace paddock::supervisor {

std::unique_ptr<Judging> make_judging(uv_loop_t* loop, RunTable& runs, ResolvedItem item,
                                      Judging::OnOver on_over) {
  switch (item.item.integrity) {
    case Integrity::stdio:
      return std::make_unique<StdioItem>(loop, runs, std::move(item), std::move(on_over));
    case Integrity::in_process:
      return std::make_unique<InProcessItem>(loop, runs, std::move(item), std::move(on_over));
    case Integrity::separate:
      break;
  }
  return std::make_unique<SeparateItem>(loop, runs, std::move(item), std::move(on_over));
}

}  // namespace paddock::supervisor
