package fair

// Remembered is how many organizations' use is kept.
func (s *Scheduler) Remembered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.accounts)
}
