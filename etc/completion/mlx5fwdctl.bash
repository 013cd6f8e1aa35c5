# bash completion of mlx5fwdctl: the program itself knows what may come next
_mlx5fwdctl()
{
	local word

	COMPREPLY=()
	while IFS= read -r word; do
		COMPREPLY+=("$word")
	done < <("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _mlx5fwdctl mlx5fwdctl
