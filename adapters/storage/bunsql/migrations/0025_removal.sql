-- What an organization has is removed from a database that it has left, and with it, by its organization.
CREATE INDEX oauth_grants_by_org ON oauth_grants (org, id);

CREATE INDEX sessions_by_org ON sessions (org, hash);

CREATE INDEX sign_in_links_by_org ON sign_in_links (org, hash);
