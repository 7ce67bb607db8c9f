package spec

import (
	"encoding/json"
	"strconv"

	"github.com/invopop/jsonschema"
)

// JSONSchema returns the JSON Schema of the format, for editors.
func JSONSchema() []byte {
	return SchemaOf(&Spec{}, "Sluice spec", "What sluice generates: inboxes, outboxes, consumer groups and stream tables of one extension.")
}

// SchemaOf returns the JSON Schema of a format that a struct declares, for editors.
func SchemaOf(format any, title, description string) []byte {
	reflector := jsonschema.Reflector{
		Anonymous: true, DoNotReference: true, FieldNameTag: "yaml", RequiredFromJSONSchemaTags: true,
	}
	schema := reflector.Reflect(format)
	schema.Title, schema.Description = title, description
	allowExtras(schema)
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		panic("the schema is built from constants: " + err.Error())
	}
	return append(text, '\n')
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

// JSONSchema describes durations.
func (Duration) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: durationForm.String(), Examples: []any{"500ms", "30s", "5m", "72h", "7d"}}
}

// JSONSchema describes texts by name.
func (Texts) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "string"}}
}

// JSONSchema describes schedules.
func (Schedule) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Examples: []any{"1s", "*/5 * * * *", "calculated"}}
}

// JSONSchema describes located texts.
func (Text) JSONSchema() *jsonschema.Schema {
	one := uint64(1)
	return &jsonschema.Schema{Type: "string", MinLength: &one}
}

// JSONSchema describes the columns of an id: one, or several.
func (IDColumns) JSONSchema() *jsonschema.Schema {
	one, longest := uint64(1), uint64(MaxNameBytes)
	name := &jsonschema.Schema{Type: "string", MinLength: &one, MaxLength: &longest}
	return &jsonschema.Schema{Default: "event_id", OneOf: []*jsonschema.Schema{name, {Type: "array", Items: name, MinItems: &one, UniqueItems: true}}}
}

// JSONSchema describes queries.
func (Query) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }

// JSONSchemaExtend allows true and false in place of options.
func (TableOutbox) JSONSchemaExtend(s *jsonschema.Schema) {
	options := *s
	*s = jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "boolean"}, &options}}
}

// JSONSchemaExtend allows true and false in place of options.
func (Journal) JSONSchemaExtend(s *jsonschema.Schema) { TableOutbox{}.JSONSchemaExtend(s) }

// JSONSchemaExtend allows none in place of options.
func (Retry) JSONSchemaExtend(s *jsonschema.Schema) {
	options := *s
	*s = jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string", Enum: []any{BackoffNone}}, &options}}
}

// JSONSchema describes every setting.
func (Settings) JSONSchema() *jsonschema.Schema {
	properties := jsonschema.NewProperties()
	for _, def := range SettingDefs {
		properties.Set(def.Name, def.schema())
	}
	return &jsonschema.Schema{Type: "object", Properties: properties, AdditionalProperties: jsonschema.FalseSchema}
}

func (s SettingDef) schema() *jsonschema.Schema {
	about := s.About + " Default: " + s.Default + "."
	if s.IsSwitch() {
		return &jsonschema.Schema{Description: about, Enum: []any{"on", "off", true, false}}
	}
	return intSchema(s.Min, maxSetting, about)
}

// JSONSchema describes priority maps.
func (PriorityMap) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", AdditionalProperties: intSchema(0, LowestPriority, "")}
}

// JSONSchemaExtend allows default in place of a list.
func (Tiers) JSONSchemaExtend(s *jsonschema.Schema) {
	list := *s
	*s = jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string", Enum: []any{DefaultTiers}}, &list}}
}

func intSchema(lowest, highest int, about string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "integer", Minimum: jsonInt(lowest), Maximum: jsonInt(highest), Description: about}
}

func jsonInt(n int) json.Number { return json.Number(strconv.Itoa(n)) }
