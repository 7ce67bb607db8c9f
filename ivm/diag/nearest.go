package diag

import "strings"

// Nearest returns the candidate that name was most likely meant to be, or "" if none is close.
func Nearest(name string, candidates []string) string {
	best, distance := "", 1+max(1, len([]rune(name))/3)
	for _, candidate := range candidates {
		if d := editDistance(strings.ToLower(name), strings.ToLower(candidate)); d < distance {
			best, distance = candidate, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions, replacements and swaps of neighbours that turn a into b.
func editDistance(a, b string) int {
	s, t := []rune(a), []rune(b)
	rows := make([][]int, len(s)+1)
	for i := range rows {
		rows[i] = make([]int, len(t)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(s); i++ {
		for j := 1; j <= len(t); j++ {
			rows[i][j] = cheapestEdit(rows, s, t, i, j)
		}
	}
	return rows[len(s)][len(t)]
}

func cheapestEdit(rows [][]int, s, t []rune, i, j int) int {
	replaced := rows[i-1][j-1]
	if s[i-1] != t[j-1] {
		replaced++
	}
	cost := min(rows[i-1][j]+1, rows[i][j-1]+1, replaced)
	if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
		cost = min(cost, rows[i-2][j-2]+1)
	}
	return cost
}
