package artifact

import (
	"strings"

	"github.com/pgsluice/sluice/generator/upgrade"
)

// banner stands before the first object of a section.
func banner(section string) string {
	return "-- ==== " + section + " " + strings.Repeat("=", 100-len(section)) + "\n\n"
}

// banners are those of the objects that begin a section, by number.
func banners(objects []upgrade.Object) map[int]string {
	all := map[int]string{}
	last := ""
	for n, o := range objects {
		if o.Section != "" && o.Section != last {
			all[n], last = banner(o.Section), o.Section
		}
	}
	return all
}
