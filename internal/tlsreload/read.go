package tlsreload

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/crdconvert/webhookd/internal/tlsreload/volume"
)

const maxFile = 1 << 20 // bytes; a Secret holds no more (corev1.MaxSecretSize)

// files is the result of one reading: the bytes of one generation.
type files struct {
	certPath, keyPath, clientCAPath string

	cert, key  []byte
	generation string

	clientCA    []byte
	clientCAErr error // separate: a bad client CA does not stop a good key pair
}

// read reads all files from the current generation.
func (o *Options) read() (files, error) {
	f := files{
		certPath:     filepath.Join(o.Dir, CertFile),
		keyPath:      filepath.Join(o.Dir, KeyFile),
		clientCAPath: o.ClientCAFile,
	}
	clientDir, clientCA := filepath.Split(o.ClientCAFile)
	if clientCA != "" && !o.inside {
		f.clientCA, f.clientCAErr = readFile(os.DirFS(filepath.Clean(clientDir)), clientCA, f.clientCAPath)
	}
	generation, open, err := o.open()
	if err != nil {
		return f, err // covers a client CA inside
	}
	defer open.Close()

	f.generation = generation
	var certErr, keyErr error
	f.cert, certErr = readFile(open.FS, CertFile, f.certPath)
	f.key, keyErr = readFile(open.FS, KeyFile, f.keyPath)
	if o.inside {
		f.clientCA, f.clientCAErr = readFile(open.FS, clientCA, f.clientCAPath)
	}
	return f, errors.Join(certErr, keyErr)
}

// open opens the current generation and returns its name, which is empty for a plain directory.
func (o *Options) open() (string, *volume.Files, error) {
	fail := func(format string, args ...any) (string, *volume.Files, error) {
		return "", nil, fmt.Errorf("%s: "+format, append([]any{o.Dir}, args...)...)
	}
	current, err := volume.Current(o.Dir)
	if err != nil {
		if info, statErr := os.Stat(o.Dir); statErr == nil && !info.IsDir() {
			return fail("not a directory, set tls-dir to the folder with the files")
		}
		return fail("..data is not a usable link: %w", cause(err))
	}
	open, err := current.Open()
	switch {
	case err != nil && current.Name != "":
		return fail("what ..data names cannot be opened: %w", cause(err))
	case err != nil:
		return fail("%w, mount the Secret with the certificate there, or set tls-dir to where it is", cause(err))
	}
	return current.Name, open, nil
}

func readFile(fsys fs.FS, name, path string) ([]byte, error) {
	fail := func(err error) ([]byte, error) {
		err = cause(err)
		switch {
		case errors.Is(err, fs.ErrPermission):
			err = fmt.Errorf("%w; set the pod's fsGroup or the volume's defaultMode", err)
		case errors.Is(err, fs.ErrNotExist) && (name == CertFile || name == KeyFile):
			err = fmt.Errorf("%w; add it to the Secret, or set tls-dir to where it is", err)
		case errors.Is(err, fs.ErrNotExist):
			err = fmt.Errorf("%w; add it to the Secret, or set client-ca-file to where it is", err)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// Opening a FIFO would block, so check the type first.
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return fail(err)
	}
	if !info.Mode().IsRegular() {
		return fail(errors.New("not a regular file"))
	}
	file, err := fsys.Open(name)
	if err != nil {
		return fail(err)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	_ = file.Close() // read-only: nothing can be lost
	if err != nil {
		return fail(err)
	}
	if len(data) > maxFile {
		return fail(errors.New("larger than 1 MiB"))
	}
	return data, nil
}

// cause strips the operation and path that package os adds. The text of an error must not change
// with the name of a generation, or each one would be reported again.
func cause(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}
