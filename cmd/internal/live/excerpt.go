package live

import (
	"fmt"
	"strings"
)

// excerpt shows the line of a script that holds the character at position, counted from 1, with a caret under it.
func excerpt(sql string, position int) string {
	runes := []rune(sql)
	before := string(runes[:min(max(position-1, 0), len(runes))])
	line := strings.Count(before, "\n")
	col := len([]rune(before[strings.LastIndex(before, "\n")+1:]))
	text := strings.Split(sql, "\n")[line]
	number := fmt.Sprint(line + 1)
	return fmt.Sprintf("  %s | %s\n  %s | %s^", number, text, strings.Repeat(" ", len(number)), strings.Repeat(" ", col))
}
