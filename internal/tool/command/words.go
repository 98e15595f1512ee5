package command

import "fmt"

// CheckWords refuses a command without a shell in which a placeholder is more than an argument: in
// the name of the program, or in text that an interpreter runs.
func CheckWords(words []string) error {
	for i, w := range words {
		pieces, ok := Pieces(w)
		if !ok {
			if isCode(words[:i]) {
				return fmt.Errorf("%q is part of what %s runs", w, Base(words[0]))
			}
			continue
		}
		for _, p := range pieces {
			hole := "{{" + p.Text + "}}"
			switch {
			case !p.Expr || !isModelled(p.Text):
			case i == 0:
				return fmt.Errorf("%s would be the name of a program", hole)
			case len(pieces) > 1 && isCode(words[:i]):
				return fmt.Errorf("%s is part of what %s runs: let it read a parameter, as in "+
					"sh -c 'printf %%s \"$1\"' sh %s", hole, Base(words[0]), hole)
			}
		}
	}
	return nil
}
