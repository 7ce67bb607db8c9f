package upgrade

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// randomManifest has some of twenty objects, in an order of its own where shuffle says so.
func randomManifest(random *rand.Rand, version string, shuffle bool) Manifest {
	m := NewManifest("shop", version, "pgtrickle", "pgtrickle_internal", nil, nil, nil)
	m.Options = map[string]string{"settings.inbox_enabled": fmt.Sprint(random.IntN(2))}
	for n := range 20 {
		if random.IntN(4) > 0 {
			m.Objects = append(m.Objects, Object{Kind: "function", Signature: fmt.Sprintf("f%d()", n), SQL: fmt.Sprintf("create\n%d\n,\"\\n\n\t%d <>&\\\n", random.IntN(3), random.IntN(3)), Needs: []string{fmt.Sprint("f", random.IntN(2))}})
		}
		if random.IntN(8) == 0 {
			m.Named = append(m.Named, Named{Kind: "inbox", Name: fmt.Sprint("i", n), Options: map[string]string{"retry": fmt.Sprint(random.IntN(2))}})
			m.Made = append(m.Made, Made{Kind: "change log", Name: fmt.Sprint("l", n), On: []string{fmt.Sprint(random.IntN(2))}})
		}
	}
	if shuffle {
		random.Shuffle(len(m.Objects), func(i, j int) { m.Objects[i], m.Objects[j] = m.Objects[j], m.Objects[i] })
	}
	return m
}

// TestChangedManifests decodes what releases after the first keep: the same manifest, whatever was removed, added, changed and moved.
func TestChangedManifests(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 500 {
		before, err := Decode([]byte(randomManifest(random, "1.0.0", false).Encode()), nil)
		if err != nil {
			t.Fatal(err)
		}
		for n, shuffle := range []bool{false, true, false} {
			m := randomManifest(random, fmt.Sprintf("1.%d.0", n+1), shuffle)
			text := m.EncodeOn(before)
			got, err := Decode([]byte(text), &before)
			if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			before = got
			if got.Checksum = ""; !reflect.DeepEqual(got, m) {
				t.Fatalf("round %d: decoded\n%+v\nof\n%+v", round, got, m)
			}
		}
	}
}

func TestChangedManifestsAreSmall(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	first, err := Decode([]byte(randomManifest(random, "1.0.0", false).Encode()), nil)
	if err != nil {
		t.Fatal(err)
	}
	second := first
	second.Version = "1.1.0"
	second.Objects = slices.Concat(first.Objects[1:5], first.Objects[:1], first.Objects[5:])
	text := second.EncodeOn(first)
	if n := strings.Count(text, `"after"`) + strings.Count(text, `"kind"`); n != 1 {
		t.Errorf("%d objects are written, not the one that moved:\n%s", n, text)
	}
	if _, err := Decode([]byte(strings.Replace(text, `"1.1.0"`, `"1.1.1"`, 1)), &first); err != errChanged {
		t.Errorf("a changed file: %v", err)
	}
	first.Checksum = strings.Repeat("0", 32)
	if _, err := Decode([]byte(text), &first); err != errChanged {
		t.Errorf("a base that is another: %v", err)
	}
	if _, err := Decode([]byte(text), nil); err != (ErrBase{"1.0.0"}) {
		t.Errorf("no base: %v", err)
	}
}
