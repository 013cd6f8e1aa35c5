#!/bin/zsh -f
# operations/completion.zsh SHELL TYPED - what an interactive shell makes of a line at TAB
#
# SHELL is zsh or bash, a real one on a terminal of its own. It completes mlx5fwdctl, the first in
# $PATH, as its user would have it: by the files of $top/etc/completion. In the current folder
# it prints what was offered, one word a line, and then the line as it stands: "= ...".
# Exit status 1: that took more than 10 s.
zmodload zsh/zpty zsh/zselect
export result=$(mktemp -d)
trap 'rm -r $result' EXIT

cat >$result/.zshrc <<'RC'
PS1='> '
fpath=($top/etc/completion $fpath)
autoload -Uz compinit
compinit -u -D
compadd()
{
	local -a got

	builtin compadd -O got "$@"
	(( $#got )) && print -rl -- $got >>$result/offered
	builtin compadd "$@"
}
tell() { print -r -- "= $BUFFER" >$result/part && mv $result/part $result/line }
zle -N tell
bindkey '^G' tell
zle-line-init() { : >$result/ready }
zle -N zle-line-init
RC

cat >$result/bashrc <<'RC'
PS1='> '
. $top/etc/completion/mlx5fwdctl.bash
offer()
{
	_mlx5fwdctl "$@"
	[ ${#COMPREPLY[@]} = 0 ] || printf '%s\n' "${COMPREPLY[@]}" >>$result/offered
}
eval "$(complete -p mlx5fwdctl | sed 's/_mlx5fwdctl/offer/')"
tell() { printf '= %s\n' "$READLINE_LINE" >$result/part && mv $result/part $result/line; }
bind -x '"\C-g": tell'
PROMPT_COMMAND=': >$result/ready'
RC

appears() # FILE: within 10 s
{
	local n

	for ((n = 0; n < 1000; n++)); do
		[[ -e $1 ]] && return
		zselect -t 1
	done
	return 1
}

export TERM=dumb
case $1 in
zsh) zpty -b shell "ZDOTDIR=$result exec zsh -d -i" ;;
bash) zpty -b shell "exec bash --noprofile --rcfile $result/bashrc -i" ;;
esac
appears $result/ready || exit 1
zpty -n -w shell "$2"$'\t'
zpty -n -w shell $'\a'
appears $result/line || exit 1
[[ ! -e $result/offered ]] || cat $result/offered
cat $result/line
zpty -d shell
