-- A sample price history of industry sectors, made up for this project.
CREATE TABLE price (
    day TEXT NOT NULL,
    sector TEXT NOT NULL,
    close REAL NOT NULL,
    PRIMARY KEY (sector, day)
);

-- Each sector's latest day beside 1, 5 and 20 sample days before; a change that has no earlier day is NULL.
CREATE VIEW movement AS
WITH ordered AS (
    SELECT sector, day, close,
           lag(close, 1) OVER by_day AS close_1d,
           lag(close, 5) OVER by_day AS close_5d,
           lag(close, 20) OVER by_day AS close_20d,
           row_number() OVER (PARTITION BY sector ORDER BY day DESC) AS age
    FROM price WINDOW by_day AS (PARTITION BY sector ORDER BY day)
)
SELECT sector, day, close,
       round(100.0 * (close / close_1d - 1), 2) AS change_1d_pct,
       round(100.0 * (close / close_5d - 1), 2) AS change_5d_pct,
       round(100.0 * (close / close_20d - 1), 2) AS change_20d_pct
FROM ordered WHERE age = 1;
