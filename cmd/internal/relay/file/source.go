package file

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

const maxLine = 64 << 20

// ErrEnd is the error of a source that has no more lines and does not wait for any. It is not io.EOF, which clients of brokers return when a connection ends.
var ErrEnd = errors.New("the file has no more lines")

// Source reads a line for each event. A file keeps in a second one how far its lines were delivered; standard input does not.
type Source struct {
	c       *config.FileSource
	decode  func(*wire.Document, wire.Place) *wire.Event
	format  string
	batch   int
	file    io.ReadCloser
	in      *bufio.Reader
	read    int64 // bytes of whole lines
	settled int64
	ahead   []byte // of a line that is not whole
}

// NewSource opens a file behind the lines that were delivered.
func NewSource(c *config.FileSource, format string, batch int, stdin io.Reader, decode func(*wire.Document, wire.Place) *wire.Event) (*Source, error) {
	s := &Source{c: c, decode: decode, format: format, batch: batch, file: io.NopCloser(stdin)}
	if c.Path != "-" {
		f, err := os.Open(c.Path)
		if err != nil {
			return nil, err
		}
		s.file = f
		if s.settled, err = s.offset(); err == nil {
			_, err = f.Seek(s.settled, io.SeekStart)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		s.read = s.settled
	}
	s.in = bufio.NewReaderSize(s.file, 64<<10)
	return s, nil
}

func (s *Source) state() string {
	if s.c.State != "" {
		return s.c.State
	}
	return s.c.Path + ".offset"
}

func (s *Source) offset() (int64, error) {
	text, err := os.ReadFile(s.state())
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s holds no offset", s.state())
	}
	return n, nil
}

// Receive implements wire.Source. ErrEnd is its end.
func (s *Source) Receive(ctx context.Context) (events []*wire.Event, err error) {
	for len(events) < s.batch {
		at := s.read
		text, err := s.line()
		switch {
		case err == nil:
			if len(bytes.TrimSpace(text)) > 0 {
				events = append(events, s.decode(s.document(text), wire.Place{Topic: s.c.Path, Offset: at, Known: true}))
			}
			continue
		case !errors.Is(err, io.EOF):
			return nil, err
		case len(events) > 0:
			return events, nil
		case !s.c.Follow:
			return nil, ErrEnd
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
	return events, nil
}

// line reads a whole line. At the end of a file that does not grow, the last one needs no newline.
func (s *Source) line() ([]byte, error) {
	text, err := s.in.ReadBytes('\n')
	s.ahead = append(s.ahead, text...)
	switch {
	case len(s.ahead) > maxLine:
		return nil, fmt.Errorf("%s: a line is longer than %d bytes", s.c.Path, maxLine)
	case err != nil && (s.c.Follow || len(s.ahead) == 0 || !errors.Is(err, io.EOF)):
		return nil, err
	}
	whole := s.ahead
	s.read, s.ahead = s.read+int64(len(whole)), nil
	return whole, nil
}

// document undoes Line.
func (s *Source) document(text []byte) *wire.Document {
	d := &wire.Document{Address: s.c.Path, Body: text, Headers: map[string]string{}}
	var l line
	if s.format != wire.Native && s.format != wire.CloudEventsBinary || json.Unmarshal(text, &l) != nil || l.Payload == nil {
		return d
	}
	for name, value := range l.Headers {
		d.Headers[strings.ToLower(name)] = value
	}
	d.Body, d.ID, d.Key = l.Payload, l.ID, l.Key
	if s.format == wire.Native {
		wire.SetNative(d.Headers, l.ID, l.Source, l.Type, l.Key)
	}
	return d
}

// Settle implements wire.Source.
func (s *Source) Settle(_ context.Context, events []*wire.Event, outcomes []error) error {
	to := s.read
	var left error
	for i, err := range outcomes {
		if err != nil && !wire.IsRejected(err) {
			to, left = events[i].Place.Offset, errors.New("lines were not delivered")
			break
		}
	}
	if s.c.Path != "-" && to > s.settled {
		if err := replace(s.state(), strconv.FormatInt(to, 10)+"\n"); err != nil {
			return err
		}
		s.settled = to
	}
	return left // read again from there
}

// Close implements wire.Source.
func (s *Source) Close(context.Context) error { return s.file.Close() }

// replace writes a file so that a crash leaves the old one or the new one.
func replace(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
