package pull

import (
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// schemas writes schemas. public is in every database.
func (w *writer) schemas(class string, oids []int64) error {
	all, err := rows[struct {
		OID  int64
		Name string
	}](w.database, "schemas", oids)
	for _, s := range all {
		i := item{what: "schema " + sqltext.Ident(s.Name)}
		if s.Name != "public" {
			i.rank, i.name, i.text = rankSchema, s.Name, "create schema if not exists "+sqltext.Ident(s.Name)
		}
		w.put(class, s.OID, i)
	}
	return err
}

// extensionRow is a row of extensions.sql.
type extensionRow struct {
	OID          int64
	Name, Schema string
	MakesSchema  bool // the schema is a member
}

// extensions writes extensions, of whatever version the server has.
func (w *writer) extensions(class string, oids []int64) error {
	all, err := rows[extensionRow](w.database, "extensions", oids)
	for _, x := range all {
		text := "create extension if not exists " + sqltext.Ident(x.Name)
		if !x.MakesSchema {
			text += " with schema " + sqltext.Ident(x.Schema)
		}
		w.put(class, x.OID, item{rank: rankExtension, name: x.Name, what: "extension " + sqltext.Ident(x.Name), text: text})
	}
	return err
}

// wrapper is a row of wrappers.sql.
type wrapper struct {
	OID                int64
	Name               string
	Handler, Validator string
}

// wrappers writes foreign-data wrappers without options.
func (w *writer) wrappers(class string, oids []int64) error {
	all, err := rows[wrapper](w.database, "wrappers", oids)
	for _, f := range all {
		text := "create foreign data wrapper " + sqltext.Ident(f.Name)
		if f.Handler != "" {
			text += " handler " + f.Handler
		}
		if f.Validator != "" {
			text += " validator " + f.Validator
		}
		w.put(class, f.OID, item{rank: rankOperator, name: f.Name, what: "foreign-data wrapper " + sqltext.Ident(f.Name), text: text})
	}
	return err
}

// server is a row of servers.sql.
type server struct {
	OID           int64
	Name          string
	Type, Version string
	Wrapper       string
}

// servers writes foreign servers without options, which hold hosts and more that is nobody's business, and without user mappings.
func (w *writer) servers(class string, oids []int64) error {
	all, err := rows[server](w.database, "servers", oids)
	for _, s := range all {
		text := "create server " + sqltext.Ident(s.Name)
		if s.Type != "" {
			text += " type " + literal(s.Type)
		}
		if s.Version != "" {
			text += " version " + literal(s.Version)
		}
		text += " foreign data wrapper " + sqltext.Ident(s.Wrapper)
		w.put(class, s.OID, item{rank: rankOperator, name: s.Name, what: "server " + sqltext.Ident(s.Name), text: text})
	}
	return err
}
