package migrations

import "strings"

// plain has a file for each way. Ticks fill what upgrades bring, as a client that sends a whole file at once can run nothing that commits.
func plain(files map[string]string, s Series, m Migration) error {
	path, fill := s.name(m), m.Fill
	if m.From != "" {
		path, fill = s.Extension+"_"+m.From+"_to_"+m.Version, ""
	}
	files[path+".up.sql"] = s.title(m) + "\n" + transaction(m.Up) + fill
	files[path+".down.sql"] = s.backTitle(m) + "\n" + transaction(m.Down)
	return nil
}

// goose has both ways in one file. It runs each in a transaction and would split it at semicolons.
func goose(files map[string]string, s Series, m Migration) error {
	path, err := number(Goose, m.Version, 0)
	if err != nil {
		return err
	}
	files[path+"_"+s.name(m)+".sql"] = s.title(m) + "\n-- +goose Up\n" + statement(m.Up) + "\n-- +goose Down\n" + s.backTitle(m) + statement(m.Down)
	if m.Fill == "" {
		return nil
	}
	if path, err = number(Goose, m.Version, 1); err != nil {
		return err
	}
	files[path+"_"+s.name(m)+"_fill.sql"] = s.fillTitle(m) + "\n-- +goose NO TRANSACTION\n-- +goose Up\n" + m.Fill + "\n-- +goose Down\n" + nothingBack
	return nil
}

func statement(script string) string {
	return "-- +goose StatementBegin\n" + strings.TrimRight(script, "\n") + "\n-- +goose StatementEnd\n"
}

// golangMigrate sends a file as it is: what it holds must begin and commit, and what commits by itself must be alone in its file.
func golangMigrate(files map[string]string, s Series, m Migration) error {
	path, err := number(GolangMigrate, m.Version, 0)
	if err != nil {
		return err
	}
	path += "_" + s.name(m)
	files[path+".up.sql"] = s.title(m) + "\n" + transaction(m.Up)
	files[path+".down.sql"] = s.backTitle(m) + "\n" + transaction(m.Down)
	if m.Fill == "" {
		return nil
	}
	if path, err = number(GolangMigrate, m.Version, 1); err != nil {
		return err
	}
	path += "_" + s.name(m) + "_fill"
	files[path+".up.sql"] = s.fillTitle(m) + "\n" + m.Fill
	files[path+".down.sql"] = nothingBack
	return nil
}

// flyway orders by versions with dots, runs each file in a transaction, and goes back by files of their own, where there are any.
func flyway(files map[string]string, s Series, m Migration) error {
	if _, err := number(Flyway, m.Version, 0); err != nil {
		return err
	}
	path := m.Version + "__" + s.Extension + ".sql"
	files["V"+path] = s.title(m) + "\n" + m.Up
	files["V"+path+".conf"] = "placeholderReplacement=false\n"
	if m.Back {
		files["U"+path] = s.backTitle(m) + "\n" + m.Down
		files["U"+path+".conf"] = "placeholderReplacement=false\n"
	}
	if m.Fill != "" {
		path = m.Version + ".1__" + s.Extension + "_fill.sql"
		files["V"+path] = s.fillTitle(m) + "\n" + m.Fill
		files["V"+path+".conf"] = "executeInTransaction=false\n"
		files["U"+path] = nothingBack
	}
	return nil
}

// dbmate has both ways in one file, and runs each in a transaction.
func dbmate(files map[string]string, s Series, m Migration) error {
	path, err := number(Dbmate, m.Version, 0)
	if err != nil {
		return err
	}
	files[path+"_"+s.name(m)+".sql"] = s.title(m) + "\n-- migrate:up\n" + m.Up + "\n-- migrate:down\n" + s.backTitle(m) + m.Down
	if m.Fill == "" {
		return nil
	}
	if path, err = number(Dbmate, m.Version, 1); err != nil {
		return err
	}
	files[path+"_"+s.name(m)+"_fill.sql"] = s.fillTitle(m) + "\n-- migrate:up transaction:false\n" + m.Fill +
		"\n-- migrate:down transaction:false\n" + nothingBack
	return nil
}
