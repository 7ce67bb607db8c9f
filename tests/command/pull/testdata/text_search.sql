-- Text search configurations with dictionaries of their own.
create schema ts;
create text search dictionary ts.english_short (template = snowball, language = 'english', stopwords = 'english');
create text search dictionary ts."Plain" (template = pg_catalog.simple);
create text search configuration ts.mine (copy = pg_catalog.simple);
alter text search configuration ts.mine alter mapping for asciiword, word with ts.english_short, ts."Plain", simple;
alter text search configuration ts.mine drop mapping for email, url;
create table ts.docs (body text, vector tsvector generated always as (to_tsvector('ts.mine', body)) stored);
