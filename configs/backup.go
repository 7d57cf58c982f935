package configs

import (
	"strings"
	"time"

	"github.com/adhocore/gronx"

	"github.com/mnemehq/mneme/core/registry"
)

// Backup says where backups go, and when the server makes them.
type Backup struct {
	To    string        `yaml:"to" env:"MNEME_BACKUP_TO" help:"Where backups are kept: a folder, or s3://bucket/prefix, with ?endpoint=https://host:9000&region=name for a server other than Amazon's. Its key is that of the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), of ~/.aws/credentials, or of the machine's role."`
	Every time.Duration `yaml:"every" help:"The server makes a backup this long after the last one, 1m to 8760h. 0: never."`
	Cron  string        `yaml:"cron" help:"Or at these times, in UTC: five fields, such as \"30 4 * * *\"."`

	KeepLast  int `yaml:"keep_last" help:"After each backup of the server all but the newest so many are removed. With this and keep_daily 0, none is."`
	KeepDaily int `yaml:"keep_daily" help:"Also kept is the newest backup of each of so many days."`

	Passphrase   registry.Secret `yaml:"passphrase" env:"MNEME_BACKUP_PASSPHRASE" help:"Encrypts the backups. Without it none can be restored."`
	IdentityFile string          `yaml:"identity_file" help:"File with an identity of age (age-keygen), instead of a passphrase."`
	Recipients   []string        `yaml:"recipients" help:"Recipients of age (age1...) who can open the backups, too. They are taken when the first backup is made."`
}

// Scheduled says whether the server makes backups by itself.
func (b Backup) Scheduled() bool { return b.Every > 0 || b.Cron != "" }

// Next is when the backup after one is due; zero: never.
func (b Backup) Next(after time.Time) time.Time {
	if b.Every > 0 {
		return after.Add(b.Every)
	}
	if b.Cron != "" {
		if next, err := gronx.NextTickAfter(b.Cron, after.UTC(), false); err == nil {
			return next
		}
	}
	return time.Time{}
}

func (b Backup) validate(report func(path, format string, args ...any)) {
	switch {
	case b.Every != 0 && b.Cron != "":
		report("backup.cron", "is beside backup.every; leave one of them out")
	case b.Every != 0 && (b.Every < time.Minute || b.Every > 8760*time.Hour):
		report("backup.every", "%s is not between 1m and 8760h", b.Every)
	case b.Cron != "" && (len(strings.Fields(b.Cron)) != 5 || strings.Contains(b.Cron, "@") || !gronx.IsValid(b.Cron) ||
		b.Next(time.Now()).IsZero()):
		report("backup.cron", `%q is not five fields: minute, hour, day of the month, month and day of the week, `+
			`such as "30 4 * * *"`, b.Cron)
	}
	if b.Scheduled() && b.To == "" {
		report("backup.to", "is missing beside a schedule")
	}
	for _, n := range []struct {
		path  string
		value int
	}{{"backup.keep_last", b.KeepLast}, {"backup.keep_daily", b.KeepDaily}} {
		if n.value < 0 || n.value > 10000 {
			report(n.path, "%d is not between 0 and 10000", n.value)
		}
	}
	if b.Passphrase != "" && b.IdentityFile != "" {
		report("backup.identity_file", "is beside backup.passphrase (MNEME_BACKUP_PASSPHRASE); leave one of them out")
	}
}
