package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"text/template"
)

// Template makes a text of an event, such as a subject. The zero value makes an empty one.
type Template struct {
	text  string
	parts *template.Template
}

// ParseTemplate reads a Go template over the fields of an event: .Type, .Key, .ID, .Origin, .Time, .Headers and .Data, its payload.
func ParseTemplate(text string) (Template, error) {
	if !strings.Contains(text, "{{") {
		return Template{text: text}, nil
	}
	parts, err := template.New("").Option("missingkey=error").Funcs(template.FuncMap{
		"lower": strings.ToLower, "upper": strings.ToUpper, "replace": func(old, by, text string) string { return strings.ReplaceAll(text, old, by) },
		"path": url.PathEscape,
		"default": func(otherwise, text string) string {
			if text == "" {
				return otherwise
			}
			return text
		},
	}).Parse(text)
	if err != nil {
		return Template{}, fmt.Errorf("invalid template: %s", strings.TrimPrefix(err.Error(), "template: :"))
	}
	return Template{parts: parts}, nil
}

// Execute makes the text of an event. A field that the event lacks is an error that rejects it.
func (t Template) Execute(e *Event) (string, error) {
	if t.parts == nil {
		return t.text, nil
	}
	var b bytes.Buffer
	if err := t.parts.Execute(&b, fields{e}); err != nil {
		return "", Reject("template: %s", strings.TrimPrefix(err.Error(), "template: :"))
	}
	return b.String(), nil
}

// IsFixed reports whether the text is the same for all events.
func (t Template) IsFixed() bool { return t.parts == nil }

// fields is what templates see of an event.
type fields struct{ *Event }

// Data is the payload, decoded; numbers keep their digits.
func (f fields) Data() (any, error) {
	payload := f.Payload
	if f.Row != nil {
		payload = f.Row.Data
	}
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	var data any
	err := decoder.Decode(&data)
	return data, err
}
