package typing

import (
	"regexp"
	"strconv"
	"strings"
)

// isInterval reports whether a version of PostgreSQL takes a string for an interval. Numbers that are too large, and fields that only
// `interval '…' day to hour` gives a meaning, are not refused.
func isInterval(value string) bool {
	fields, ok := intervalFields(value)
	return ok && fitUnits(fields) || len(value) > 1 && isoInterval.MatchString(value)
}

// isoInterval is the format with designators of ISO 8601, and the alternative format.
var isoInterval = regexp.MustCompile(replaceN(`^P(` +
	`(N[YMWD])*(T(N[HMS])*)?|` +
	`(N(-N(-N)?)?|[0-9]{8})?(T(N(:N(:N)?)?|[0-9]{6}|(N[HMS])*))?` +
	`)$`))

// replaceN writes the form of a number in the place of each N.
func replaceN(pattern string) string {
	return strings.ReplaceAll(pattern, "N", `-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?`)
}

// intervalField is the next field: a time, a number or a date, a word, one of these with a sign, or what separates fields.
var intervalField = regexp.MustCompile(`^(?:([0-9]+:[0-9:.]*|` +
	`[0-9]+(?:-[0-9]+(?:-[0-9-]*)?|\.[0-9]+(?:\.[0-9.]*)?|/[0-9]+(?:/[0-9/]*)?|-[0-9A-Za-z-]*|\.[0-9A-Za-z.]*|/[0-9A-Za-z/]*)?|` +
	`\.[0-9]*|[A-Za-z]+|[+-]\s*(?:[0-9][0-9:.-]*|[A-Za-z]+))|[\s!-/:-@\[-` + "`" + `{-~])`)

// intervalFields splits a string as PostgreSQL does.
func intervalFields(value string) (fields []string, ok bool) {
	for value != "" {
		found := intervalField.FindStringSubmatch(value)
		if found == nil || found[1] == "" && strings.ContainsAny(found[0], "+-") {
			return nil, false
		}
		value = value[len(found[0]):]
		field := strings.ToLower(strings.Join(strings.Fields(found[1]), ""))
		if isWord(field) && joinsDate(field, value) {
			return nil, false
		}
		if field != "" {
			fields = append(fields, field)
		}
	}
	return fields, true
}

func isWord(field string) bool {
	return strings.ContainsAny(strings.TrimLeft(field, "+-")+" ", "abcdefghijklmnopqrstuvwxyz") && !strings.ContainsAny(field, "0123456789")
}

// joinsDate reports whether a word and what follows it are taken for a date such as jan-1, unless dates have the word, too.
func joinsDate(word, rest string) bool {
	if rest == "" {
		return false
	}
	isShort := strings.Contains(" d dec h m mon s y ", " "+word+" ")
	return strings.ContainsAny(rest[:1], "-/.") || strings.ContainsAny(rest[:1], "+0123456789") && !isShort
}

// intervalUnits are the words for each unit; the first ten characters of a word count.
var intervalUnits = unitWords(map[string]string{
	"us": "us usec usecond useconds usecs microsecon", "ms": "ms msec msecond mseconds msecs millisecon", "s": "s sec second seconds secs",
	"m": "m mm min mins minute minutes", "h": "h hour hours hr hrs", "d": "d day days", "w": "w week weeks", "mon": "mon mons month months",
	"y": "y year years yr yrs", "dec": "dec decade decades decs", "c": "c cent centuries century", "mil": "mil mils millennia millennium",
	"none": "ago qtr quarter timezone timezone_h timezone_m", "infinity": "infinity inf",
})

func unitWords(words map[string]string) map[string]string {
	units := map[string]string{}
	for unit, of := range words {
		for _, word := range strings.Fields(of) {
			units[word] = unit
		}
	}
	return units
}

var (
	intervalTime   = regexp.MustCompile(`^[+-]?[0-9]+:([0-9]*)(?:\.[0-9]*|:([0-9]*)(?:\.[0-9]*)?)?$`)
	intervalNumber = regexp.MustCompile(`^[+-]?[0-9]*(?:-([0-9]*)|\.[0-9]*)?$`)
)

// fitUnits reads fields from the last to the first: a number belongs to the unit behind it, and each unit has one.
func fitUnits(fields []string) bool {
	unit, given := "", map[string]bool{}
	for i := len(fields) - 1; i >= 0; i-- {
		field := fields[i]
		now, next := unit, unit
		number := intervalNumber.FindStringSubmatch(field)
		switch {
		case isWord(field):
			word, known := intervalUnits[strings.TrimLeft(field[:min(len(field), 10)], "+-")]
			if !known {
				return false
			}
			if unit = word; word == "infinity" {
				given["infinity"] = true
			}
			continue
		case isTimeOfInterval(field):
			now, next = "h", "d"
			if given["m"] || given["s"] || given["ms"] || given["us"] {
				return false
			}
			given["m"], given["s"] = true, true
		case number == nil:
			return false
		case number[1] != "" || strings.HasSuffix(field, "-"):
			if months, _ := strconv.Atoi(number[1]); months > 11 {
				return false
			}
			now, next = "mon", "mon"
		case unit == "none" || unit == "infinity":
			return false
		case unit == "h", unit == "":
			next = "d"
		}
		if now != "" && given[now] {
			return false
		}
		given[now], unit = true, next
	}
	return len(given) > 0
}

func isTimeOfInterval(field string) bool {
	parts := intervalTime.FindStringSubmatch(field)
	if parts == nil {
		return false
	}
	minutes, _ := strconv.Atoi(parts[1])
	seconds, _ := strconv.Atoi(parts[2])
	return minutes < 60 && seconds <= 60
}
