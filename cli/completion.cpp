#include <weir/cli/completion.hpp>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace weir::cli {
namespace {

// Both ask `weir __complete -- WORDS`: see complete_words().
constexpr const char* bash = R"script(# Completion of weir for bash:  source <(weir completion bash)
_weir() {
  local line
  local -a words=("${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :file)
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done \
          < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
        ;;
      :directory)
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done \
          < <(compgen -d -- "${COMP_WORDS[COMP_CWORD]}")
        ;;
      *) COMPREPLY+=("$line") ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete -- "${words[@]}" 2>/dev/null)
}
complete -F _weir weir
)script";

constexpr const char* zsh = R"script(#compdef weir
# Completion of weir for zsh:  source <(weir completion zsh)
_weir() {
  local -a lines
  lines=("${(@f)$("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case ${lines[1]} in
    :file) _files ;;
    :directory) _files -/ ;;
    '') ;;
    *) compadd -a lines ;;
  esac
}
if [[ ${funcstack[1]} == _weir ]]; then
  _weir "$@"
else
  compdef _weir weir
fi
)script";

}  // namespace

Result<> print_completion(const CompletionOptions& options, Output& output) {
  const std::string script = options.shell == "bash" ? bash : zsh;
  if (output.is_json()) {
    output.line(
        boost::json::serialize(boost::json::value{{"shell", options.shell}, {"script", script}}));
  } else {
    output.write(script);
  }
  return {};
}

}  // namespace weir::cli
