package sqltext

import (
	"crypto/sha256"
	"slices"
	"strings"
	"sync"
)

// standIn takes the place of a name in statements that differ in it only. It is short, so that no identifier becomes longer than PostgreSQL keeps.
const standIn = "qzq"

// checkedNamed holds the statements that Named.Check found to be right, as described holds those of Describe.
var checkedNamed sync.Map

// Named parses statements about an object of a spec. Hundreds of inboxes have the same statements but for their names, so each is parsed once,
// with the stand-in for the name: parsing was half of the time that generating them takes.
type Named struct{ Name string }

// Describe is as Describe.
func (n Named) Describe(sql string) (Created, error) {
	same, ok := n.replace(sql)
	if !ok {
		return Describe(sql)
	}
	c, err := Describe(same)
	if err != nil || c.Kind == "" || slices.ContainsFunc(c.Args, func(arg string) bool { return strings.Contains(arg, standIn) }) {
		return Describe(sql) // the name was a part of something else, such as a keyword or a type
	}
	body := c.checkBody
	c.checkBody = func() error {
		if body() == nil {
			return nil
		}
		return Check(sql)
	}
	for _, field := range []*string{&c.Schema, &c.Name, &c.On, &c.Language} {
		*field = strings.ReplaceAll(*field, standIn, n.Name)
	}
	return c, nil
}

// Check is as Check.
func (n Named) Check(sql string) error {
	same, ok := n.replace(sql)
	if !ok {
		return Check(sql)
	}
	key := sha256.Sum256([]byte(same))
	if _, checked := checkedNamed.Load(key); checked {
		return nil
	}
	if Check(same) != nil {
		return Check(sql)
	}
	checkedNamed.Store(key, true)
	return nil
}

// replace returns the statement with the stand-in for the name. Names that are quoted somewhere stay as they are.
func (n Named) replace(sql string) (same string, ok bool) {
	if len(n.Name) < len(standIn) || Ident(n.Name) != n.Name || strings.Contains(sql, standIn) {
		return "", false
	}
	return strings.ReplaceAll(sql, n.Name, standIn), true
}
