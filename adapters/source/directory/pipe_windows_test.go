package directory_test

import "errors"

func pipe(string) error { return errors.ErrUnsupported } // there they are in no folder
