package typing

import (
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// What the input function of a type certainly refuses is known here; the rest of it only the server knows.

// literal checks that a string can be a value of the type that it is taken for.
func (c *Checker) literal(e sqltext.Expr, typ string) {
	if value, ok := e.Text(); ok {
		c.text(e.At(), value, typ)
	}
}

func (c *Checker) text(at int, value, typ string) {
	typ = c.Catalog.BaseType(typ)
	info, _ := c.Catalog.TypeInfo(typ)
	switch {
	case info.Kind == catalog.EnumKind:
		if info.Labels != nil && !slices.Contains(info.Labels, value) {
			c.reportNearest(at, badLabel, value, info.Labels, c.shown(typ), value)
		}
	case info.Kind == catalog.ArrayKind:
		c.arrayLiteral(at, value, info.Elem)
	case info.Kind == catalog.RangeKind:
		c.rangeLiteral(at, value, info.Sub)
	case typ == "bit" || typ == "bit varying":
		c.bits(at, value)
	case isNoDay(typ, value):
		c.report(at, badDate, value)
	case isOutOfRange(typ, value):
		c.report(at, outOfRange, value, c.shown(typ))
	case inputs[typ] != nil && !inputs[typ](value):
		c.report(at, badLiteral, c.shown(typ), value)
	}
}

// inputs tell what types of PostgreSQL's own may take, at least.
var inputs = map[string]func(string) bool{
	"smallint": isInteger, "integer": isInteger, "bigint": isInteger, "oid": isInteger,
	"numeric": isNumber, "real": isNumber, "double precision": isNumber,
	"boolean": isBoolean, "uuid": uuid.MatchString,
	"json": isJSON, "jsonb": isJSON,
	"date": isDate, "timestamp without time zone": isDate, "timestamp with time zone": isDate,
	"time without time zone": hasDigit, "time with time zone": hasDigit, "interval": isInterval,
}

var (
	integer   = regexp.MustCompile(`^\s*[+-]?(0[xX]_?[0-9a-fA-F_]+|0[oO]_?[0-7_]+|0[bB]_?[01_]+|[0-9][0-9_]*)\s*$`)
	number    = regexp.MustCompile(`^\s*[+-]?(0[xXoObB][0-9a-fA-F_]+|([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)([eE][+-]?[0-9_]+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?|[nN][aA][nN])\s*$`)
	uuid      = regexp.MustCompile(`^(\{[0-9a-fA-F]{4}(-?[0-9a-fA-F]{4}){7}\}|[0-9a-fA-F]{4}(-?[0-9a-fA-F]{4}){7})$`)
	rangeForm = regexp.MustCompile(`(?s)^[(\[](.*,.*)[)\]]$`)
	day       = regexp.MustCompile(`^\s*([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})\s*$`)
)

func isInteger(value string) bool { return integer.MatchString(value) }

func isNumber(value string) bool { return number.MatchString(value) }

func isJSON(value string) bool { return json.Valid([]byte(value)) }

// isBoolean: the words may be cut short, as far as they differ.
func isBoolean(value string) bool {
	value = strings.ToLower(strings.TrimSpace(value))
	if value == "" || value == "o" {
		return false
	}
	return slices.ContainsFunc([]string{"true", "false", "yes", "no", "on", "off", "1", "0"}, func(word string) bool { return strings.HasPrefix(word, value) })
}

func hasDigit(value string) bool {
	return strings.ContainsAny(value, "0123456789") || slices.ContainsFunc([]string{"now", "allballs", "infinity"}, func(word string) bool {
		return strings.Contains(strings.ToLower(value), word)
	})
}

// isDate takes what has a digit or one of the special words.
func isDate(value string) bool {
	lower := strings.ToLower(value)
	return hasDigit(value) || slices.ContainsFunc([]string{"epoch", "today", "tomorrow", "yesterday"}, func(word string) bool { return strings.Contains(lower, word) })
}

// isNoDay reports a day that no calendar has.
func isNoDay(typ, value string) bool {
	parts := day.FindStringSubmatch(value)
	if parts == nil || !strings.HasPrefix(typ, "date") && !strings.HasPrefix(typ, "timestamp") {
		return false
	}
	year, _ := strconv.Atoi(parts[1])
	month, _ := strconv.Atoi(parts[2])
	of, _ := strconv.Atoi(parts[3])
	at := time.Date(year, time.Month(month), of, 0, 0, 0, 0, time.UTC)
	return year == 0 || at.Month() != time.Month(month) || at.Day() != of
}

// rangeLiteral checks a range, and its bounds where nothing in it is quoted.
func (c *Checker) rangeLiteral(at int, value, subtype string) {
	trimmed := strings.TrimSpace(value)
	if strings.EqualFold(trimmed, "empty") {
		return
	}
	parts := rangeForm.FindStringSubmatch(trimmed)
	if parts == nil {
		c.report(at, badRange, value)
		return
	}
	bounds := strings.Split(parts[1], ",")
	switch {
	case strings.ContainsAny(parts[1], "\"\\"):
	case len(bounds) != 2:
		c.report(at, badRange, value)
	default:
		for _, bound := range bounds {
			if bound != "" {
				c.text(at, bound, subtype)
			}
		}
	}
}

// bits checks the digits of B'…' and X'…', and of strings that are taken for them.
func (c *Checker) bits(at int, value string) {
	digits, kind := "01", "binary"
	if value != "" && strings.ContainsAny(value[:1], "xX") {
		digits, kind = "0123456789abcdefABCDEF", "hexadecimal"
	}
	if value != "" && strings.ContainsAny(value[:1], "xXbB") {
		value = value[1:]
	}
	if bad := strings.Trim(value, digits); bad != "" {
		c.report(at, badDigit, string([]rune(bad)[:1]), kind)
	}
}

// sizes are the bits of integers.
var sizes = map[string]uint{"smallint": 15, "integer": 31, "bigint": 63}

func isOutOfRange(typ, value string) bool {
	size, is := sizes[typ]
	value = strings.TrimPrefix(strings.TrimSpace(value), "+")
	n, ok := new(big.Int).SetString(value, 10)
	if !is || !ok {
		return false
	}
	limit := new(big.Int).Lsh(big.NewInt(1), size)
	return n.Cmp(limit) >= 0 || n.Cmp(new(big.Int).Neg(limit)) < 0
}
