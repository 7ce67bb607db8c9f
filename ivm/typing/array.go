package typing

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// arrayLiteral checks an array, and its elements.
func (c *Checker) arrayLiteral(at int, value, element string) {
	r := arrayReader{rest: strings.Trim(value, arraySpace), delimiter: ","}
	if element == "box" {
		r.delimiter = ";"
	}
	bounds := arrayBounds.FindString(r.rest)
	r.rest = r.rest[len(bounds):]
	if !strings.HasPrefix(r.rest, "{") || !r.array(0) || r.rest != "" || bounds != "" && !slices.Equal(sizesOf(bounds), r.sizes) {
		c.report(at, badArray, value)
		return
	}
	for _, item := range r.items {
		c.text(at, item, element)
	}
}

const (
	arraySpace     = " \t\n\r\v\f"
	mostDimensions = 6
)

// arrayBounds are what may stand before the braces: [1:2][0:1]=.
var arrayBounds = regexp.MustCompile(`^(?:\[\s*[+-]?[0-9]+(?::[+-]?[0-9]+)?\s*\]\s*)+=\s*`)

var arrayBound = regexp.MustCompile(`([+-]?[0-9]+)(?::([+-]?[0-9]+))?\s*\]`)

// sizesOf are the sizes of the dimensions that have these bounds.
func sizesOf(bounds string) (sizes []int) {
	for _, bound := range arrayBound.FindAllStringSubmatch(bounds, -1) {
		first, last := "1", bound[1]
		if bound[2] != "" {
			first, last = bound[1], bound[2]
		}
		lower, _ := strconv.Atoi(first)
		upper, _ := strconv.Atoi(last)
		sizes = append(sizes, upper-lower+1)
	}
	return sizes
}

// arrayReader reads the text of an array.
type arrayReader struct {
	rest, delimiter string
	items           []string // the elements that are not null
	sizes           []int    // by dimension; 0 if it is not known yet
	depth           int      // at which elements stand; 0 if it is not known yet
}

// array reads one pair of braces, in which elements or arrays of one size stand.
func (r *arrayReader) array(dimension int) bool {
	if dimension == mostDimensions {
		return false
	}
	if len(r.sizes) == dimension {
		r.sizes = append(r.sizes, 0)
	}
	r.rest = strings.TrimLeft(r.rest[1:], arraySpace)
	size := 0
	for !strings.HasPrefix(r.rest, "}") || size > 0 {
		if !r.element(dimension) {
			return false
		}
		size++
		r.rest = strings.TrimLeft(r.rest, arraySpace)
		if strings.HasPrefix(r.rest, "}") {
			break
		}
		if !strings.HasPrefix(r.rest, r.delimiter) {
			return false
		}
		r.rest = strings.TrimLeft(r.rest[1:], arraySpace)
	}
	r.rest = r.rest[1:]
	if r.sizes[dimension] == 0 {
		r.sizes[dimension] = size
	}
	return r.sizes[dimension] == size
}

func (r *arrayReader) element(dimension int) bool {
	if strings.HasPrefix(r.rest, "{") {
		return r.array(dimension + 1)
	}
	if r.depth != 0 && r.depth != dimension+1 {
		return false
	}
	r.depth = dimension + 1
	var item string
	var ok, plain bool
	if strings.HasPrefix(r.rest, `"`) {
		r.rest = r.rest[1:]
		item, _, ok = r.until(`"`)
		r.rest = strings.TrimPrefix(r.rest, `"`)
	} else {
		item, plain, ok = r.until(r.delimiter + `{}"`)
		ok = ok && item != "" && !strings.HasPrefix(r.rest, `"`) && !strings.HasPrefix(r.rest, "{")
	}
	if !plain || !strings.EqualFold(item, "null") {
		r.items = append(r.items, item)
	}
	return ok && len(r.sizes) == r.depth
}

// until reads a text up to one of the ends, without the backslashes before characters. Outside of quotes, white space around it is not part of it.
func (r *arrayReader) until(ends string) (text string, plain, ok bool) {
	var read strings.Builder
	kept := 0 // the length up to which white space was escaped
	for plain = true; r.rest != "" && !strings.Contains(ends, r.rest[:1]); r.rest = r.rest[1:] {
		if escaped := r.rest[0] == '\\'; escaped {
			if r.rest = r.rest[1:]; r.rest == "" {
				return "", false, false
			}
			plain, kept = false, read.Len()+1
		}
		read.WriteByte(r.rest[0])
	}
	text = read.String()
	if ends != `"` {
		text = text[:kept] + strings.TrimRight(text[kept:], arraySpace)
	}
	return text, plain, r.rest != ""
}
