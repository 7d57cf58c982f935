// Command times says where the tests' time goes: by package in seconds of the clock
// and of a processor, and by test in seconds of the clock.
//
//	go build -o times ./cmd/mneme/test/times
//	go test -exec "$PWD/times" -json ./... | ./times
//
// With arguments it runs them as a command and says what that took, children and
// all. Without, it reads what go test -json prints.
//
// For tests only.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
)

// mark begins the line that says what a package's tests took of a processor.
const mark = "TIMES "

// slowest is how many tests are listed.
const slowest = 30

func main() {
	if len(os.Args) > 1 {
		os.Exit(run(os.Args[1], os.Args[2:]))
	}
	os.Exit(report())
}

func run(name string, args []string) (code int) {
	cmd := exec.CommandContext(context.Background(), name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	state := cmd.ProcessState
	fmt.Printf("%s%g\n", mark, (state.UserTime() + state.SystemTime()).Seconds())
	return state.ExitCode()
}

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// row is what a package or a test took, in seconds.
type row struct {
	name             string
	clock, processor float64
}

// report reads the events, prints what failed as it is said, and then the times.
func report() (code int) {
	processor, output := map[string]float64{}, map[string]*strings.Builder{}
	var packages, tests []row
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Println(lines.Text()) // the compiler's
			continue
		}
		of := e.Package + " " + e.Test
		switch e.Action {
		case "build-output":
			fmt.Print(e.Output)
		case "output":
			if seconds, ok := strings.CutPrefix(e.Output, mark); ok {
				_, err := fmt.Sscan(seconds, &e.Elapsed)
				if err == nil {
					processor[e.Package] = e.Elapsed
				}
			}
			if output[of] == nil {
				output[of] = &strings.Builder{}
			}
			output[of].WriteString(e.Output)
		case "pass", "fail", "skip":
			if e.Action == "fail" {
				code = 1
				if said := output[of]; said != nil {
					fmt.Print(said)
				}
			}
			delete(output, of)
			if e.Test == "" {
				packages = append(packages, row{e.Package, e.Elapsed, processor[e.Package]})
			} else if !strings.Contains(e.Test, "/") {
				tests = append(tests, row{of, e.Elapsed, 0})
			}
		}
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	print(packages, tests)
	return code
}

func print(packages, tests []row) {
	longest := func(a, b row) int { return cmp.Compare(b.clock, a.clock) }
	slices.SortStableFunc(packages, longest)
	slices.SortStableFunc(tests, longest)
	all := row{name: "all"}
	for _, p := range packages {
		all.clock += p.clock
		all.processor += p.processor
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "clock s\tprocessor s\t  package\n")
	for _, p := range append(packages, all) {
		fmt.Fprintf(w, "%.1f\t%.1f\t  %s\n", p.clock, p.processor, p.name)
	}
	fmt.Fprint(w, "\t\t\nclock s\t\t  test\n")
	for _, t := range tests[:min(slowest, len(tests))] {
		fmt.Fprintf(w, "%.1f\t\t  %s\n", t.clock, t.name)
	}
	_ = w.Flush() // to standard output
}
