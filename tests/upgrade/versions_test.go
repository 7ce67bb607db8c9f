package upgrade

import (
	"context"
	"crypto/md5"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// history generates the versions, oldest first.
func history(t *testing.T) []*generator.Extension {
	t.Helper()
	return generated(t, "history/*.yaml", 12)
}

var histories struct {
	sync.Mutex
	of map[string][]*generator.Extension // by the pattern of their specs
}

// generated generates each of some specs, once, as the next version after those before it.
func generated(t *testing.T, pattern string, least int) []*generator.Extension {
	t.Helper()
	histories.Lock()
	defer histories.Unlock()
	if versions := histories.of[pattern]; versions != nil {
		return slices.Clone(versions)
	}
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) < least {
		t.Fatalf("%d versions, want %d or more: %v", len(paths), least, err)
	}
	slices.Sort(paths)
	var versions []*generator.Extension
	for _, path := range paths {
		loaded, problems := spec.Load(path)
		if !problems.Empty() {
			t.Fatal(problems)
		}
		e, problems := generator.Generate(loaded[0], manifests(versions)...)
		if !problems.Empty() {
			t.Fatal(problems)
		}
		versions = append(versions, e)
	}
	if histories.of == nil {
		histories.of = map[string][]*generator.Extension{}
	}
	histories.of[pattern] = versions
	return slices.Clone(versions)
}

func manifests(versions []*generator.Extension) []upgrade.Manifest {
	var all []upgrade.Manifest
	for _, e := range versions {
		all = append(all, e.Manifest())
	}
	return all
}

// at is a database in which apply has installed a version, in the plain flavour, over the tables that stream tables read. It is a copy: each version
// is installed once on each server.
func at(t *testing.T, e *generator.Extension) *pgtest.Database {
	t.Helper()
	db := pgtest.DB(t, original(t, e))
	db.Exec(t, notCopied)
	return db
}

// original is the template that at copies. Its catalog is noted for fresh.
func original(t *testing.T, e *generator.Extension) string {
	t.Helper()
	roles(t)
	ddl := sourceTables(t)
	return pgtest.Template(t, key(e), func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, ddl); err != nil {
			return err
		}
		_, err := commandtest.Apply(ctx, conn, e, commandtest.ApplyOptions{})
		if err == nil {
			catalogs.Store(key(e), snapshot(t, conn))
		}
		return err
	})
}

// notCopied lets a copy pass for the database in which apply has installed a version: a database that knows that it is a copy starts again with its
// first tick, as after a restore.
const notCopied = `
update pgtrickle_internal.pgt_version_history
set database_oid = (select oid::bigint from pg_database where datname = current_database()), row_xmin = null;
update pgtrickle_internal.pgt_version_history set row_xmin = xmin::text;
`

// key distinguishes versions by all that installing them runs, as versions of two histories may have the same number.
func key(e *generator.Extension) string {
	return fmt.Sprintf("%x", md5.Sum([]byte(e.Version+e.Install(generator.Plain))))
}

var catalogs sync.Map // of versions, by their keys

// fresh is the catalog of a version that was installed at once, in the plain flavour.
func fresh(t *testing.T, e *generator.Extension) []string {
	t.Helper()
	catalog, known := catalogs.Load(key(e))
	if !known {
		original(t, e)
		catalog, _ = catalogs.Load(key(e))
	}
	return slices.Clone(catalog.([]string))
}

// later are the pairs of a version and a later one.
func later(versions int) [][2]int {
	var pairs [][2]int
	for to := range versions {
		for from := range to {
			pairs = append(pairs, [2]int{from, to})
		}
	}
	return pairs
}

// stretch is a part of a history with so many upgrades. It begins at a version, or behind it by SLUICE_TEST_SEED. With SLUICE_TEST_LONG=1 it is the whole.
func stretch(t *testing.T, versions []*generator.Extension, first, upgrades int) []*generator.Extension {
	t.Helper()
	if pgtest.Long() {
		return versions
	}
	places := uint64(len(versions) - upgrades)
	begin := (uint64(first) + seed(t)%places) % places
	return versions[begin : begin+uint64(upgrades)+1]
}

// somePairs are one of so many pairs of neighbours and a few others, chosen by SLUICE_TEST_SEED; with SLUICE_TEST_LONG=1 they are all.
func somePairs(t *testing.T, pairs [][2]int, of, others int) [][2]int {
	t.Helper()
	if pgtest.Long() {
		return pairs
	}
	var near, far [][2]int
	neighbours := 0
	for _, pair := range pairs {
		if d := pair[1] - pair[0]; d == 1 || d == -1 {
			if neighbours++; pgtest.Chosen(neighbours, of) {
				near = append(near, pair)
			}
		} else {
			far = append(far, pair)
		}
	}
	random := rand.New(rand.NewPCG(seed(t), 5))
	random.Shuffle(len(far), func(i, j int) { far[i], far[j] = far[j], far[i] })
	return append(near, far[:min(others, len(far))]...)
}

// seed is SLUICE_TEST_SEED.
func seed(t *testing.T) uint64 {
	t.Helper()
	seed, _ := strconv.ParseUint(os.Getenv("SLUICE_TEST_SEED"), 10, 64)
	t.Logf("seed %d", seed)
	return seed
}
