package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"cutroom"
	"cutroom/internal/provider"
	"cutroom/internal/run"
)

// runLines turns the events of a run into lines for people. What a model says in pieces is
// kept until it said all of it.
type runLines struct {
	said, thought strings.Builder
	spent         spending
	budget        run.Amounts
}

// spending is what a run spent, as far as its events say.
type spending struct {
	steps, tokens, bytes, cost int64
	before                     time.Duration // of earlier rounds
}

// row is a line with a word in front that says what it is about.
func row(what, format string, args ...any) string {
	return fmt.Sprintf("%-8s%s", what, fmt.Sprintf(format, args...))
}

// under are further lines of the same.
func under(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		list = append(list, row("", "%s", strings.TrimRight(line, "\r\n")))
	}
	return list
}

// speech are the lines of a text behind its word.
func speech(what, text string) []string {
	list := under(strings.TrimSpace(text))
	if len(list) > 0 {
		list[0] = row(what, "%s", strings.TrimSpace(list[0]))
	}
	return list
}

func (l *runLines) of(b run.Body) []string {
	switch b := b.(type) {
	case run.Started:
		return l.begun(b)
	case run.Text:
		return l.text(b)
	case run.Thinking:
		if b.Again {
			l.thought.Reset()
		}
		l.thought.WriteString(b.Text)
	case run.Start:
		return called(b)
	case run.End:
		return ended(b)
	case run.Rejected:
		return refused(b)
	case run.Compacted:
		if b.Phase == run.CompactionEnd {
			return []string{row("summary", "older messages were summed up by %s; %d messages, about %s tokens are left", b.By, b.Messages, short3(b.Tokens))}
		}
	case run.Done:
		return []string{row("done", "%s", strings.Join(l.total(b.Usage, b.Spent), ", "))}
	case run.Broken:
		return l.broken(b)
	}
	return nil
}

func (l *runLines) begun(b run.Started) []string {
	l.budget, l.spent = b.Budget, spending{b.Spent.Steps, b.Spent.Tokens, b.Spent.Bytes, b.Spent.Cost, time.Duration(b.Spent.Time) * time.Microsecond}
	what := fmt.Sprintf("round %d", b.Round)
	if b.Resumed {
		what += ", gone on with"
	}
	if b.PlanFirst && b.Round == 1 {
		what += ", for a plan"
	}
	goal, _, _ := strings.Cut(strings.TrimSpace(b.Goal), "\n")
	list := []string{row("run", "%s: %s", what, goal)}
	if b.Prompt != "" {
		list = append(list, speech("said", b.Prompt)...)
	}
	var kinds []string
	for _, k := range b.Kinds {
		kinds = append(kinds, string(k))
	}
	list = append(list, row("models", "%s", strings.Join(b.Models, ", ")), row("tools", "%s  (%s)", strings.Join(b.Tools, ", "), strings.Join(kinds, ", ")))
	if bounds := bounds(b.Budget); bounds != "" {
		list = append(list, row("budget", "%s", bounds))
	}
	if b.Pending > 0 {
		list = append(list, row("", "not finished: %s", count(int64(b.Pending), "operation")))
	}
	return list
}

// bounds are a budget in words.
func bounds(b run.Amounts) string {
	var list []string
	add := func(n int64, text string) {
		if n > 0 {
			list = append(list, text)
		}
	}
	add(b.Steps, count(b.Steps, "step"))
	add(b.Tokens, short3(b.Tokens)+" tokens")
	add(b.Bytes, cutroom.Bytes(b.Bytes)+" sent")
	add(b.Cost, "cost "+price(b.Cost))
	add(int64(b.Time), (time.Duration(b.Time) * time.Microsecond).String())
	return strings.Join(list, ", ")
}

// words say what was spent of what there is.
func (s spending) words(most run.Amounts, since time.Duration) []string {
	of := func(n int64, most int64, show func(int64) string) string {
		if most > 0 {
			return show(n) + "/" + show(most)
		}
		return show(n)
	}
	list := []string{"step " + of(s.steps, most.Steps, func(n int64) string { return strconv.FormatInt(n, 10) }), of(s.tokens, most.Tokens, short3) + " tokens"}
	if s.cost > 0 || most.Cost > 0 {
		list = append(list, "cost "+of(s.cost, most.Cost, price))
	}
	if most.Bytes > 0 {
		list = append(list, of(s.bytes, most.Bytes, cutroom.Bytes))
	}
	return append(list, of(int64((s.before+since).Round(time.Second)), int64(most.Time)*int64(time.Microsecond), func(n int64) string { return time.Duration(n).String() }))
}

func (l *runLines) text(b run.Text) []string {
	if b.Again {
		l.said.Reset()
	}
	l.said.WriteString(b.Text)
	if b.Answer == nil {
		return nil
	}
	a := b.Answer
	l.spent.steps += int64(max(len(a.Attempts), 1))
	l.spent.tokens += a.Usage.Input + a.Usage.Output
	l.spent.bytes += a.Usage.Bytes
	l.spent.cost += a.Usage.Cost
	list := append(speech("thinks", l.thought.String()), speech("says", l.said.String())...)
	l.said.Reset()
	l.thought.Reset()
	if a.Stop == provider.StopEnd && a.Calls == 0 {
		list = nil // the last words are shown for themselves
	}
	if a.From != "" {
		list = append([]string{row("model", "%s/%s goes on in the place of %s", a.Provider, a.Model, a.From)}, list...)
	}
	for _, w := range a.Warnings {
		list = append([]string{row("warning", "%s", w)}, list...)
	}
	return list
}

// called is a call as a sheet: what it is about in one line when it only looks, a line for
// each argument when it does something.
func called(b run.Start) []string {
	head := b.Tool
	if b.Recovery != "" {
		head += " (" + strings.ReplaceAll(string(b.Recovery), "_", " ") + ")"
	}
	rows := arguments(b.Input)
	if b.Kind == cutroom.Read || b.Kind == cutroom.Preview {
		var words []string
		for _, r := range rows {
			words = append(words, r.Name+" "+r.Value)
		}
		return []string{row("call", "%s  %s", head, clipped(strings.Join(words, ", "), 160))}
	}
	if b.Replay == "never" {
		head += "; never twice"
	}
	list := []string{row("call", "%s (%s)", head, b.Kind)}
	width := 0
	for _, r := range rows {
		width = max(width, len(r.Name))
	}
	for _, r := range rows {
		list = append(list, row("", "  %-*s  %s", min(width, 24), r.Name, clipped(r.Value, 160)))
	}
	if b.Cut {
		list = append(list, row("", "  …"))
	}
	return list
}

// arguments are the members of an input, shortly.
func arguments(input string) []cutroom.SheetValue {
	members, err := membersOf(jsontext.Value(input))
	if err != nil {
		return []cutroom.SheetValue{{Value: input}}
	}
	var list []cutroom.SheetValue
	for _, m := range members {
		value := string(m.value)
		switch m.value.Kind() {
		case '"':
			value = scalarText(m.value)
		case '[':
			value = strings.Join(texts(m.value), ", ")
		case '{':
			inner, _ := oneLine(m.value)
			value = inner
		}
		list = append(list, cutroom.SheetValue{Name: m.name, Value: value})
	}
	return list
}

func texts(v jsontext.Value) []string {
	items, err := itemsOf(v)
	if err != nil {
		return nil
	}
	var list []string
	for _, it := range items {
		if it.Kind() == '"' {
			list = append(list, scalarText(it))
			continue
		}
		list = append(list, string(it))
	}
	return list
}

func ended(b run.End) []string {
	took := (time.Duration(b.MS) * time.Millisecond).Round(10 * time.Millisecond).String()
	if b.Status != run.Succeeded {
		list := []string{row("failed", "%s  %s: %s", b.Tool, b.Code, clipped(complaint(b.Output, "message"), 300))}
		if hint := complaint(b.Output, "hint"); b.Code == cutroom.MissingDependency && hint != b.Output { // for whoever looks on, not for the model
			list = append(list, row("", "%s", clipped(hint, 300)))
		}
		return list
	}
	text := b.Tool + "  " + took
	if b.Reused {
		text = b.Tool + "  recorded earlier; nothing ran"
	}
	if b.Result != "" && b.Result != string(cutroom.Completed) {
		text += ", " + b.Result
	}
	if len(b.Files) > 0 {
		text += ", " + b.Files[0]
		if n := len(b.Files) - 1; n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
	}
	if b.Child != "" {
		text += ", run " + b.Child
	}
	return []string{row("ok", "%s", text)}
}

// complaint is a member of the error of a failure document, such as its message, or the text
// that there is.
func complaint(output, member string) string {
	v := jsontext.Value(output)
	for _, name := range []string{"error", member} {
		members, err := membersOf(v)
		if err != nil {
			return output
		}
		found := false
		for _, m := range members {
			if m.name == name {
				v, found = m.value, true
			}
		}
		if !found {
			return output
		}
	}
	return scalarText(v)
}

func refused(b run.Rejected) []string {
	what := "refused"
	if b.Waits {
		what = "waits"
	}
	list := []string{row(what, "%s  %s", b.Tool, strings.TrimPrefix(b.Message, b.Tool+": "))}
	for _, r := range arguments(b.Input) {
		list = append(list, row("", "  %s  %s", r.Name, clipped(r.Value, 160)))
	}
	return list
}

func (l *runLines) total(u run.Usage, spent run.Amounts) []string {
	list := []string{
		count(int64(u.Turns), "answer"), count(int64(u.Calls), "call"), short3(u.Input+u.Output) + " tokens",
		(time.Duration(spent.Time) * time.Microsecond).Round(10 * time.Millisecond).String(),
	}
	if spent.Cost > 0 {
		list = append(list, "cost "+price(spent.Cost))
	}
	return list
}

func (l *runLines) broken(b run.Broken) []string {
	text := b.Message
	if b.Hint != "" {
		text += "\n" + b.Hint
	}
	list := append([]string{}, speech("thinks", l.thought.String())...)
	list = append(list, speech("says", l.said.String())...)
	for _, w := range b.Warnings {
		list = append(list, row("warning", "%s", w))
	}
	list = append(list, speech("stopped", text)...)
	for _, at := range b.Attempts {
		list = append(list, row("", "%s/%s  %s  %s", at.Provider, at.Model, cmpText(at.Skipped, string(at.Class)), at.Message))
	}
	return append(list, row("", "%s", strings.Join(l.total(b.Usage, b.Spent), ", ")))
}

// count is a number of things.
func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.FormatInt(n, 10) + " " + what + "s"
}

// short3 is a count in three figures or so.
func short3(n int64) string {
	switch {
	case n < 10_000:
		return strconv.FormatInt(n, 10)
	case n < 1_000_000:
		return strconv.FormatFloat(float64(n/100)/10, 'f', -1, 64) + "k"
	}
	return strconv.FormatFloat(float64(n/10_000)/100, 'f', -1, 64) + "M"
}

// price is an amount of money.
func price(micros int64) string {
	return strconv.FormatFloat(float64(micros)/1e6, 'f', -1, 64)
}

// clipped is the beginning of a text.
func clipped(s string, runes int) string {
	if r := []rune(s); len(r) > runes {
		return string(r[:runes-1]) + "…"
	}
	return s
}
