package upgrade

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// manifestFormat is the format of manifests.
const manifestFormat = 1

// Manifest is a version of an extension: all that upgrades to and from it are computed from.
type Manifest struct {
	Format    int      `json:"format"`
	Extension string   `json:"extension"`
	Version   string   `json:"version"`
	Schema    string   `json:"schema"`
	Objects   []Object `json:"objects"`
	Made      []Made   `json:"made,omitempty"`
}

// NewManifest describes a version.
func NewManifest(extension, version, schema string, objects []Object, made []Made) Manifest {
	return Manifest{Format: manifestFormat, Extension: extension, Version: version, Schema: schema, Objects: objects, Made: made}
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
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(m); err != nil {
		panic(err) // strings and flags only
	}
	return out.String()
}

// Decode reads a manifest.
func Decode(text []byte) (Manifest, error) {
	var m Manifest
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&m); err != nil {
		return m, err
	}
	if m.Format != manifestFormat {
		return m, fmt.Errorf("format %d; this version of Sluice reads format %d", m.Format, manifestFormat)
	}
	return m, nil
}
