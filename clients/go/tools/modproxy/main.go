// Program modproxy writes a module as the file tree of a module proxy: modproxy DIRECTORY MODULE VERSION TREE.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(arguments []string) error {
	if len(arguments) != 4 {
		return errors.New("usage: modproxy DIRECTORY MODULE VERSION TREE")
	}
	directory, version := arguments[0], module.Version{Path: arguments[1], Version: arguments[2]}
	versions := filepath.Join(arguments[3], filepath.FromSlash(version.Path), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		return err
	}
	about, err := json.Marshal(map[string]any{"Version": version.Version, "Time": time.Unix(0, 0).UTC()})
	if err != nil {
		return err
	}
	definition, err := os.ReadFile(filepath.Join(directory, "go.mod"))
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"list": []byte(version.Version + "\n"), version.Version + ".info": about, version.Version + ".mod": definition,
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(versions, name), content, 0o644); err != nil {
			return err
		}
	}
	archive, err := os.Create(filepath.Join(versions, version.Version+".zip"))
	if err != nil {
		return err
	}
	return errors.Join(zip.CreateFromDir(archive, version, directory), archive.Close())
}
