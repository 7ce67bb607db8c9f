// Package spectest builds the JSON Schemas of specs and of relay.yaml for tests, which compare them with the files in specs. The programs print these files.
package spectest

import (
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/invopop/jsonschema"

	"github.com/pgsluice/sluice/generator/spec"
)

// Schema returns the JSON Schema of the format that a struct declares.
func Schema(format any, title, description string) string {
	schema := reflector(nil).Reflect(format)
	schema.Title, schema.Description = title, description
	allowExtras(schema)
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		panic("the schema is built from constants: " + err.Error())
	}
	return string(text) + "\n"
}

// reflector describes types by their fields, other than those in describe; plain is described by its fields, too.
func reflector(plain reflect.Type) *jsonschema.Reflector {
	return &jsonschema.Reflector{
		Anonymous: true, DoNotReference: true, FieldNameTag: "yaml", RequiredFromJSONSchemaTags: true,
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			if t == plain {
				return nil
			}
			return describe(t)
		},
	}
}

// allowExtras allows fields that begin with x- in all objects whose fields are known.
func allowExtras(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Properties != nil {
		for property := s.Properties.Oldest(); property != nil; property = property.Next() {
			allowExtras(property.Value)
		}
		s.PatternProperties = map[string]*jsonschema.Schema{"^x-": jsonschema.TrueSchema}
	}
	allowExtras(s.Items)
	for _, one := range s.OneOf {
		allowExtras(one)
	}
}

// describe is the schema of a type that has a form of its own in YAML; nil if its fields are that form.
func describe(t reflect.Type) *jsonschema.Schema {
	one, longest := uint64(1), uint64(spec.MaxNameBytes)
	switch t {
	case reflect.TypeFor[spec.Duration]():
		return &jsonschema.Schema{Type: "string", Pattern: spec.DurationPattern, Examples: []any{"500ms", "30s", "5m", "72h", "7d"}}
	case reflect.TypeFor[spec.Schedule]():
		return &jsonschema.Schema{Type: "string", Examples: []any{"1s", "*/5 * * * *", "calculated"}}
	case reflect.TypeFor[spec.Texts]():
		return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "string"}}
	case reflect.TypeFor[spec.Text]():
		return &jsonschema.Schema{Type: "string", MinLength: &one}
	case reflect.TypeFor[spec.Query]():
		return &jsonschema.Schema{Type: "string"}
	case reflect.TypeFor[spec.IDColumns]():
		name := &jsonschema.Schema{Type: "string", MinLength: &one, MaxLength: &longest}
		return &jsonschema.Schema{Default: "event_id", OneOf: []*jsonschema.Schema{name, {Type: "array", Items: name, MinItems: &one, UniqueItems: true}}}
	case reflect.TypeFor[spec.Imperative]():
		kinds := []any{spec.ImperativeInboxes, spec.ImperativeOutboxes, spec.ImperativeStreamTables}
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
			{Type: "boolean"},
			{Type: "array", MinItems: &one, Items: &jsonschema.Schema{Type: "string", Enum: kinds}},
		}}
	case reflect.TypeFor[spec.PriorityMap]():
		return &jsonschema.Schema{Type: "object", AdditionalProperties: integers(0, spec.LowestPriority, "")}
	case reflect.TypeFor[spec.Settings]():
		return settings()
	case reflect.TypeFor[spec.TableOutbox](), reflect.TypeFor[spec.Journal]():
		return either(&jsonschema.Schema{Type: "boolean"}, t)
	case reflect.TypeFor[spec.Retry]():
		return either(&jsonschema.Schema{Type: "string", Enum: []any{spec.BackoffNone}}, t)
	case reflect.TypeFor[spec.Tiers]():
		return either(&jsonschema.Schema{Type: "string", Enum: []any{spec.DefaultTiers}}, t)
	}
	return nil
}

// either allows a word in place of options.
func either(word *jsonschema.Schema, options reflect.Type) *jsonschema.Schema {
	fields := reflector(options).ReflectFromType(options)
	fields.Version = ""
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{word, fields}}
}

func settings() *jsonschema.Schema {
	properties := jsonschema.NewProperties()
	for _, def := range spec.SettingDefs {
		about := def.About + " Default: " + def.Default + "."
		if def.IsSwitch() {
			properties.Set(def.Name, &jsonschema.Schema{Description: about, Enum: []any{"on", "off", true, false}})
		} else {
			properties.Set(def.Name, integers(def.Min, spec.MaxSetting, about))
		}
	}
	return &jsonschema.Schema{Type: "object", Properties: properties, AdditionalProperties: jsonschema.FalseSchema}
}

func integers(lowest, highest int, about string) *jsonschema.Schema {
	number := func(n int) json.Number { return json.Number(strconv.Itoa(n)) }
	return &jsonschema.Schema{Type: "integer", Minimum: number(lowest), Maximum: number(highest), Description: about}
}
