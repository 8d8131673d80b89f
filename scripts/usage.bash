# The usage of every script: --help prints the header comment, and unknown arguments end the script before it does any work.
# SPDX-License-Identifier: Apache-2.0
#
# take OPTIONS MOST "$@": OPTIONS are words such as `--quick` and `--seed=`, whose value is the next argument; MOST is
# the maximum number of other arguments. Arguments after `--` are not checked. With --help or -h the script exits with
# 0, and with 2 on an unknown argument.
take() {
  local options=" $1 " most=$2 script=${0#"$PWD"/} count=0
  shift 2
  script=scripts/${script##*scripts/}
  while [ $# -gt 0 ]; do
    case $1 in
    --) return ;;
    --help | -h)
      sed -e 1d -e '/^# SPDX/d' -e '/^#/!q' "$0" | sed -n -e 's/^# \{0,1\}//p'
      exit 0
      ;;
    -*)
      if [[ $options = *" $1= "* ]]; then
        [ $# -ge 2 ] || { echo "$script: expected a value after $1" >&2; exit 2; }
        shift
      elif [[ $options != *" $1 "* ]]; then
        echo "$script: expected ${1:+no option but --help$(printf ', %s' $options), }got '$1'; see $script --help" >&2
        exit 2
      fi
      ;;
    *) count=$((count + 1)) ;;
    esac
    shift
  done
  [ "$count" -le "$most" ] || {
    echo "$script: expected at most $most arguments, got $count; see $script --help" >&2
    exit 2
  }
}
