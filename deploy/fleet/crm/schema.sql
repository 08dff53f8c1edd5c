-- Sample customers, made up for this project. No real company, person or number is in here.
CREATE TABLE customer (
    id TEXT PRIMARY KEY,
    industry TEXT NOT NULL,
    region TEXT NOT NULL,
    tier TEXT NOT NULL CHECK (tier IN ('A', 'B', 'C')),
    last_contact TEXT
);

-- The sample stands still: days are counted to this day, not to today.
CREATE TABLE sample (as_of TEXT NOT NULL);
INSERT INTO sample VALUES ('2026-11-27');

-- How often a customer of each tier is to be contacted.
CREATE TABLE rhythm (tier TEXT PRIMARY KEY, days INTEGER NOT NULL);
INSERT INTO rhythm VALUES ('A', 14), ('B', 30), ('C', 60);

CREATE VIEW customer_status AS
SELECT customer.id, industry, region, customer.tier, last_contact, as_of, rhythm.days AS rhythm_days,
       CAST(julianday(as_of) - julianday(last_contact) AS INTEGER) AS days_since_contact,
       last_contact IS NULL OR julianday(as_of) - julianday(last_contact) > rhythm.days AS due
FROM customer JOIN rhythm ON rhythm.tier = customer.tier JOIN sample;
