package artifact

import (
	"fmt"
	"maps"

	"github.com/pgsluice/sluice/generator/docs"
	"github.com/pgsluice/sluice/generator/migrations"
	"github.com/pgsluice/sluice/generator/parallel"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
)

// Files lays out the objects and the artifacts that the spec lists, below the name of the extension, with the scripts that lead to it from the released
// versions. Migrations are those of the released versions.
func (e *Extension) Files(released []upgrade.Manifest) (Files, error) {
	return e.FilesOf(e.Artifacts, released)
}

// FilesOf is Files of the artifacts named, as the spec spells them.
func (e *Extension) FilesOf(artifacts []string, released []upgrade.Manifest) (Files, error) {
	if e.fixed != nil {
		return e.fixedFiles(artifacts)
	}
	if err := e.Follows(released); err != nil {
		return nil, err
	}
	leaps, err := leaps(e.Releasing(released))
	if err != nil {
		return nil, err
	}
	type written struct {
		files Files
		err   error
	}
	all := parallel.Map(artifacts, func(artifact string) written {
		files, err := e.artifact(artifact, released, leaps)
		return written{files, err}
	})
	files := e.objectFiles()
	for _, one := range all {
		if one.err != nil {
			return nil, one.err
		}
		maps.Copy(files, one.files)
	}
	return files, nil
}

// fixedFiles are those of a target whose files are no scripts about objects.
func (e *Extension) fixedFiles(artifacts []string) (Files, error) {
	files := Files{}
	for _, artifact := range artifacts {
		fixed, there := e.fixed[artifact]
		if !there {
			return nil, fmt.Errorf("extension %s is not for PostgreSQL: it has migrations as plain files and docs, not %s", e.Name, artifact)
		}
		maps.Copy(files, fixed)
	}
	return files, nil
}

// artifact writes one artifact, independently of the others. Leaps lead to this version from those that were released, which may be among these.
func (e *Extension) artifact(name string, released []upgrade.Manifest, leaps []leap) (Files, error) {
	switch name {
	case spec.ArtifactExtension:
		files := e.extensionFiles()
		maps.Copy(files, e.upgradeFiles(leaps))
		return files, nil
	case spec.ArtifactMigrations:
		return e.migrationFiles(migrations.Plain, released, leaps)
	case spec.ArtifactJobs:
		return e.jobFiles(), nil
	case spec.ArtifactDocs:
		return e.reference()
	case spec.ArtifactTLE:
		return e.tleFiles(leaps), nil
	case spec.ArtifactOps:
		return e.opsFiles(), nil
	case spec.ArtifactDBT:
		return e.dbtFiles(leaps), nil
	}
	return e.migrationFiles(migrations.Format(name), released, leaps)
}

// extensionFiles are the control file, the script that installs this version, and the Makefile.
func (e *Extension) extensionFiles() Files {
	extension := e.Name + "/extension/"
	return Files{
		extension + e.Name + ".control":                e.control(),
		extension + e.Name + "--" + e.Version + ".sql": e.extensionScript(),
		extension + "Makefile":                         e.makefile(),
	}
}

// reference is the documentation of the generated objects.
func (e *Extension) reference() (Files, error) {
	text, err := docs.Markdown(docs.Extension{Extension: e.view, Objects: e.described()})
	return Files{e.Name + "/docs/README.md": text}, err
}

// ReferencePage is the reference as a page of HTML.
func (e *Extension) ReferencePage() (string, error) {
	if e.fixed != nil {
		return "", fmt.Errorf("extension %s is not for PostgreSQL: its reference is docs/README.md, which generate writes", e.Name)
	}
	return docs.HTML(docs.Extension{Extension: e.view, Objects: e.described()})
}
