package upgrade

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// manifestFormat is the format of manifests.
const manifestFormat = 1

// Manifest is a version of an extension: all that upgrades to and from it are computed from.
type Manifest struct {
	Format    int               `json:"format"`
	Extension string            `json:"extension"`
	Version   string            `json:"version"`
	Schema    string            `json:"schema"`
	Internal  string            `json:"internal"`          // the schema of what users neither call nor read
	Options   map[string]string `json:"options,omitempty"` // of the whole, as those of what it names
	Named     []Named           `json:"named,omitempty"`
	Objects   []Object          `json:"objects"`
	Made      []Made            `json:"made,omitempty"`
	Checksum  string            `json:"checksum"` // of the file that it was read from
}

// Mark is what comments of its objects end in.
func (m Manifest) Mark() string { return sqltext.Mark(m.Extension, m.Schema) }

// Named is something that the spec names, and that keeps its data when its name changes.
type Named struct {
	Kind        string            `json:"kind"` // inbox, outbox, consumer group or stream table
	Name        string            `json:"name"`
	Origin      string            `json:"origin,omitempty"`       // the name that it was released under first; empty if that is its name
	RenamedFrom string            `json:"renamed_from,omitempty"` // as the spec says
	Options     map[string]string `json:"options,omitempty"`      // as spec.Options has them; none in manifests of older versions of Sluice
	Values      []Value           `json:"values,omitempty"`       // where its name stands in tables of the catalog, but for rows of scripts
}

// Value is a name in a table of the catalog, as SQL.
type Value struct {
	Table  string `json:"table"`
	Column string `json:"column"`
	Value  string `json:"value"`
	Key    bool   `json:"key,omitempty"` // the name is a key within the column, which is jsonb
}

// First is the name that it was released under first.
func (n Named) First() string { return cmp.Or(n.Origin, n.Name) }

func (n Named) id() string { return n.Kind + " " + n.Name }

func (n Named) identity() string { return n.Kind + " " + n.First() }

// Find returns what has a name in this version.
func (m Manifest) Find(kind, name string) (Named, bool) {
	at := slices.IndexFunc(m.Named, func(n Named) bool { return n.Kind == kind && n.Name == name })
	if at < 0 {
		return Named{}, false
	}
	return m.Named[at], true
}

// Has reports whether this version has an object, by its id.
func (m Manifest) Has(id string) bool {
	return slices.ContainsFunc(m.Objects, func(o Object) bool { return o.ID() == id })
}

// Holding lists the tables, as SQL, that may have data of users: some are made at run time only.
func (m Manifest) Holding() []string {
	var tables []string
	for _, o := range m.Objects {
		if o.Holds {
			tables = append(tables, o.Signature)
		}
	}
	for _, made := range m.Made {
		if made.Table != "" {
			tables = append(tables, made.Table)
		}
	}
	return tables
}

// NewManifest describes a version.
func NewManifest(extension, version, schema, internal string, named []Named, objects []Object, made []Made) Manifest {
	return Manifest{Format: manifestFormat, Extension: extension, Version: version, Schema: schema, Internal: internal, Named: named, Objects: objects, Made: made}
}

// Digest changes whenever any object does.
func (m Manifest) Digest() string {
	sum := sha256.New()
	for _, o := range m.Objects {
		sum.Write([]byte(o.Digest()))
	}
	return hex.EncodeToString(sum.Sum(nil))[:32]
}

// Encode is the manifest as a file: the same bytes for the same version.
func (m Manifest) Encode() string {
	m.Checksum = m.checksum()
	return encoded(m)
}

// checksum reports whether somebody changed a file: upgrades from what was never installed would do harm. Fields that later versions of Sluice add
// are left out where they are empty, so it stays.
func (m Manifest) checksum() string {
	m.Checksum = ""
	return textChecksum([]byte(encoded(m)), "", "")
}

// textChecksum is the checksum of a text that has a checksum, or none yet, and of the file with checksum base.
func textChecksum(text []byte, checksum, base string) string {
	sum := sha256.Sum256(append(bytes.Replace(text, fmt.Appendf(nil, `"checksum": %q`, checksum), []byte(`"checksum": ""`), 1), base...))
	return hex.EncodeToString(sum[:16])
}

var errChanged = errors.New("somebody changed it since \"sluice release\" wrote it: restore it")

// Decode reads a manifest. before is that of the release before, nil if there is none.
func Decode(text []byte, before *Manifest) (m Manifest, err error) {
	if isChanged(text) {
		m, err = decodeChanged(text, before)
	} else if err = decode(text, &m); err == nil && m.Checksum != textChecksum(text, m.Checksum, "") && m.Checksum != m.checksum() {
		err = errChanged
	}
	if err == nil && m.Format != manifestFormat {
		err = fmt.Errorf("format %d; this version of Sluice reads format %d", m.Format, manifestFormat)
	}
	return m, err
}
