// Package packages holds what deploy/packages builds to what an operator expects of it: the same bytes each time, the
// sums and the list of what is inside right, and a deb that is installed, upgraded, removed and purged by dpkg into a
// folder of its own, and serves from there, and an rpm that rpm installs, upgrades and removes.
package packages
