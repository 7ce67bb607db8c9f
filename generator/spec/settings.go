package spec

import (
	"fmt"
	"reflect"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// SettingDef declares a run-time setting of generated code.
type SettingDef struct {
	Name    string
	Module  string // of the runtime, that reads it
	Default string // on, off or a whole number
	Min     int    // smallest number; 0 for switches
	Guarded bool   // it decides what is deleted, and is therefore never read from a session
	About   string
}

// IsSwitch reports whether the setting is on or off rather than a number.
func (s SettingDef) IsSwitch() bool { return s.Default == "on" || s.Default == "off" }

// MaxSetting is the largest integer of PostgreSQL.
const MaxSetting = 1<<31 - 1

// SettingDefs are all settings, in the order of the documentation.
var SettingDefs = []SettingDef{
	{"outbox_enabled", "outbox", "on", 0, false, "Write outbox rows."},
	{"outbox_retention_hours", "outbox", "24", 0, true, "How long consumed outbox rows are kept; 0 keeps them."},
	{"outbox_drain_batch_size", "outbox", "10000", 1, false, "Outbox rows that one retention batch deletes."},
	{"outbox_inline_threshold_rows", "outbox", "10000", 0, false, "Changed rows up to which an outbox payload holds them all."},
	{"outbox_claim_check_batch_size", "outbox", "1000", 1, false, "Not used: one statement writes a claim check."},
	{"outbox_drain_interval_seconds", "outbox", "60", 1, false, "Seconds between retention runs of outboxes."},
	{"outbox_storage_critical_mb", "outbox", "1024", 1, false, "Size of an outbox that raises an alert."},
	{"outbox_skip_empty_delta", "outbox", "on", 0, false, "Write nothing when a refresh changed nothing."},
	{"outbox_force_retention", "outbox", "off", 0, true, "Delete outbox rows even if a group has not committed them."},
	{"poll_wait_ms", "outbox", "2000", 1, false, "Milliseconds that a poll waits for others of its group, before it fails."},
	{"consumer_dead_threshold_hours", "outbox", "24", 1, true, "Silence after which a consumer is removed."},
	{"consumer_stale_offset_threshold_days", "outbox", "7", 1, true, "Age after which the offset of a group counts as stale."},
	{"consumer_cleanup_enabled", "outbox", "on", 0, true, "Remove dead consumers."},
	{"inbox_enabled", "inbox", "on", 0, false, "Do background work on inboxes."},
	{"inbox_processed_retention_hours", "inbox", "72", 0, true, "How long processed messages are kept; 0 keeps them."},
	{"inbox_dlq_retention_hours", "inbox", "0", 0, true, "How long dead letters are kept; 0 keeps them."},
	{"inbox_drain_batch_size", "inbox", "1000", 1, false, "Messages that one retention batch deletes."},
	{"inbox_drain_interval_seconds", "inbox", "60", 1, false, "Seconds between retention runs of inboxes."},
	{"inbox_dlq_alert_max_per_refresh", "inbox", "10", 0, false, "Single alerts per tick of dead letters, of gaps and of documents in quarantine; the rest are summed up."},
	{"ordering_gap_alert_seconds", "inbox", "30", 1, false, "Age of a gap that raises an alert."},
}

// FindSetting returns the declaration of a setting.
func FindSetting(name string) (SettingDef, bool) {
	for _, def := range SettingDefs {
		if def.Name == name {
			return def, true
		}
	}
	return SettingDef{}, false
}

// Setting is a setting that a spec gives, its value checked and spelled as in pgt_settings: on, off or a number.
type Setting struct {
	Place
	Name, Value string
}

// Settings are the settings that a spec gives, in file order.
type Settings []Setting

// Value returns the value that a spec gives to a setting, or else its default.
func (s Settings) Value(name string) string {
	if setting, ok := s.find(name); ok {
		return setting.Value
	}
	def, _ := FindSetting(name)
	return def.Default
}

func (s Settings) find(name string) (Setting, bool) {
	for _, setting := range s {
		if setting.Name == name {
			return setting, true
		}
	}
	return Setting{}, false
}

// hours returns the value of a setting that counts hours.
func (s Settings) hours(name string) Duration {
	hours, _ := strconv.Atoi(s.Value(name))
	return Duration(hours) * Duration(time.Hour)
}

func (s *Settings) read(d *decoder, n *yaml.Node, f field) {
	if n.Kind != yaml.MappingNode {
		if !isNull(n) {
			d.errs.Add(wrongType(d.pos(n), f.name, "a map of settings", n))
		}
		return
	}
	d.entries(n, f.name, func(key, value *yaml.Node) {
		if isExtra(key) {
			return
		}
		def, ok := FindSetting(key.Value)
		if !ok {
			d.errs.Add(unknownSetting(d.pos(key), key.Value))
			return
		}
		if text, ok := d.settingValue(value, def); ok {
			*s = append(*s, Setting{Place{At: d.pos(key)}, def.Name, text})
		}
	})
}

// settingValue reads a value as its setting declares it. YAML's true and false stand for on and off.
func (d *decoder) settingValue(n *yaml.Node, def SettingDef) (string, bool) {
	if def.IsSwitch() {
		var on bool
		switch err := n.Decode(&on); {
		case n.ShortTag() == "!!bool" && err == nil, n.Value == "on", n.Value == "off":
			return map[bool]string{true: "on", false: "off"}[on || n.Value == "on"], true
		}
		d.errs.Add(wrongType(d.pos(n), def.Name, "on or off", n))
		return "", false
	}
	largest := MaxSetting
	bounds := rules{min: &def.Min, max: &largest}
	i, before := 0, d.errs.Len()
	d.value(n, reflect.ValueOf(&i).Elem(), field{name: def.Name, rules: bounds})
	return fmt.Sprint(i), d.errs.Len() == before
}
