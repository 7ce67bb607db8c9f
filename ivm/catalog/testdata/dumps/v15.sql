--
-- PostgreSQL database dump
--

\restrict rjhpHfGmEc3LRVYpQllagAr35pt29vDpN2Hiu5v9dMrdcnJ3CNEkYH6CUDWXwcr

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: S.chema; Type: SCHEMA; Schema: -; Owner: postgres
--

CREATE SCHEMA "S.chema";


ALTER SCHEMA "S.chema" OWNER TO postgres;

--
-- Name: app; Type: SCHEMA; Schema: -; Owner: postgres
--

CREATE SCHEMA app;


ALTER SCHEMA app OWNER TO postgres;

--
-- Name: german; Type: COLLATION; Schema: app; Owner: postgres
--

CREATE COLLATION app.german (provider = icu, locale = 'de');


ALTER COLLATION app.german OWNER TO postgres;

--
-- Name: ci; Type: COLLATION; Schema: public; Owner: postgres
--

CREATE COLLATION public.ci (provider = icu, deterministic = false, locale = 'und-u-ks-level2');


ALTER COLLATION public.ci OWNER TO postgres;

--
-- Name: citext; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS citext WITH SCHEMA public;


--
-- Name: EXTENSION citext; Type: COMMENT; Schema: -; Owner: 
--

COMMENT ON EXTENSION citext IS 'data type for case-insensitive character strings';


--
-- Name: code; Type: DOMAIN; Schema: app; Owner: postgres
--

CREATE DOMAIN app.code AS character varying(5) COLLATE pg_catalog."C"
	CONSTRAINT code_check CHECK (((VALUE)::text ~ '^[a-z]+$'::text));


ALTER DOMAIN app.code OWNER TO postgres;

--
-- Name: mood; Type: TYPE; Schema: app; Owner: postgres
--

CREATE TYPE app.mood AS ENUM (
    'a',
    'b''; create table x ()'
);


ALTER TYPE app.mood OWNER TO postgres;

--
-- Name: pair; Type: TYPE; Schema: app; Owner: postgres
--

CREATE TYPE app.pair AS (
	a integer,
	b text COLLATE pg_catalog."C"
);


ALTER TYPE app.pair OWNER TO postgres;

--
-- Name: posint; Type: DOMAIN; Schema: app; Owner: postgres
--

CREATE DOMAIN app.posint AS integer NOT NULL
	CONSTRAINT pos CHECK ((VALUE > 0));


ALTER DOMAIN app.posint OWNER TO postgres;

--
-- Name: span; Type: TYPE; Schema: app; Owner: postgres
--

CREATE TYPE app.span AS RANGE (
    subtype = double precision,
    multirange_type_name = app.span_multirange
);


ALTER TYPE app.span OWNER TO postgres;

--
-- Name: mood; Type: TYPE; Schema: public; Owner: postgres
--

CREATE TYPE public.mood AS ENUM (
    'sad',
    'ok',
    'happy'
);


ALTER TYPE public.mood OWNER TO postgres;

--
-- Name: pair; Type: TYPE; Schema: public; Owner: postgres
--

CREATE TYPE public.pair AS (
	a integer,
	b text
);


ALTER TYPE public.pair OWNER TO postgres;

--
-- Name: posint; Type: DOMAIN; Schema: public; Owner: postgres
--

CREATE DOMAIN public.posint AS integer
	CONSTRAINT posint_check CHECK ((VALUE > 0));


ALTER DOMAIN public.posint OWNER TO postgres;

--
-- Name: to_mood(integer); Type: FUNCTION; Schema: app; Owner: postgres
--

CREATE FUNCTION app.to_mood(integer) RETURNS app.mood
    LANGUAGE sql IMMUTABLE
    AS $$select 'a'::app.mood$$;


ALTER FUNCTION app.to_mood(integer) OWNER TO postgres;

--
-- Name: CAST (integer AS app.mood); Type: CAST; Schema: -; Owner: -
--

CREATE CAST (integer AS app.mood) WITH FUNCTION app.to_mood(integer) AS ASSIGNMENT;


--
-- Name: f(text); Type: FUNCTION; Schema: app; Owner: postgres
--

CREATE FUNCTION app.f(a text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $_$ begin return $$;$$; end $_$;


ALTER FUNCTION app.f(a text) OWNER TO postgres;

--
-- Name: f(integer, text, integer[]); Type: FUNCTION; Schema: app; Owner: postgres
--

CREATE FUNCTION app.f(a integer, b text DEFAULT 'x'::text, VARIADIC c integer[] DEFAULT '{}'::integer[]) RETURNS TABLE(x integer, y app.mood)
    LANGUAGE sql STABLE
    BEGIN ATOMIC
 SELECT
         CASE
             WHEN (a > 1) THEN 1
             ELSE NULL::integer
         END AS "case",
     'a'::app.mood AS mood;
 SELECT 2,
     'a'::app.mood AS mood;
END;


ALTER FUNCTION app.f(a integer, b text, VARIADIC c integer[]) OWNER TO postgres;

--
-- Name: p(integer, integer); Type: PROCEDURE; Schema: app; Owner: postgres
--

CREATE PROCEDURE app.p(INOUT a integer, IN b integer)
    LANGUAGE sql
    AS $$select 1$$;


ALTER PROCEDURE app.p(INOUT a integer, IN b integer) OWNER TO postgres;

--
-- Name: st(integer, integer); Type: FUNCTION; Schema: app; Owner: postgres
--

CREATE FUNCTION app.st(integer, integer) RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $_$select $1$_$;


ALTER FUNCTION app.st(integer, integer) OWNER TO postgres;

--
-- Name: trg(); Type: FUNCTION; Schema: app; Owner: postgres
--

CREATE FUNCTION app.trg() RETURNS trigger
    LANGUAGE plpgsql
    AS $$begin return new; end$$;


ALTER FUNCTION app.trg() OWNER TO postgres;

--
-- Name: f_band(numeric); Type: FUNCTION; Schema: public; Owner: postgres
--

CREATE FUNCTION public.f_band(n numeric) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$ SELECT CASE WHEN n IS NULL THEN 'none' WHEN n < 2000 THEN 'low' WHEN n < 6000 THEN 'mid' ELSE 'high' END $$;


ALTER FUNCTION public.f_band(n numeric) OWNER TO postgres;

--
-- Name: f_split(text); Type: FUNCTION; Schema: public; Owner: postgres
--

CREATE FUNCTION public.f_split(t text) RETURNS SETOF text
    LANGUAGE sql IMMUTABLE STRICT
    AS $$ SELECT unnest(string_to_array(t, '-')) $$;


ALTER FUNCTION public.f_split(t text) OWNER TO postgres;

--
-- Name: f_xor_step(integer, integer); Type: FUNCTION; Schema: public; Owner: postgres
--

CREATE FUNCTION public.f_xor_step(state integer, v integer) RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $$ SELECT coalesce(state,0) # coalesce(v,0) $$;


ALTER FUNCTION public.f_xor_step(state integer, v integer) OWNER TO postgres;

--
-- Name: agg(integer); Type: AGGREGATE; Schema: app; Owner: postgres
--

CREATE AGGREGATE app.agg(integer) (
    SFUNC = app.st,
    STYPE = integer
);


ALTER AGGREGATE app.agg(integer) OWNER TO postgres;

--
-- Name: agg2(integer[]); Type: AGGREGATE; Schema: app; Owner: postgres
--

CREATE AGGREGATE app.agg2(VARIADIC integer[]) (
    SFUNC = array_cat,
    STYPE = integer[]
);


ALTER AGGREGATE app.agg2(VARIADIC integer[]) OWNER TO postgres;

--
-- Name: agg_xor(integer); Type: AGGREGATE; Schema: public; Owner: postgres
--

CREATE AGGREGATE public.agg_xor(integer) (
    SFUNC = public.f_xor_step,
    STYPE = integer,
    INITCOND = '0'
);


ALTER AGGREGATE public.agg_xor(integer) OWNER TO postgres;

--
-- Name: ===; Type: OPERATOR; Schema: app; Owner: postgres
--

CREATE OPERATOR app.=== (
    FUNCTION = app.st,
    LEFTARG = integer,
    RIGHTARG = integer
);


ALTER OPERATOR app.=== (integer, integer) OWNER TO postgres;

SET default_tablespace = '';

--
-- Name: Part; Type: TABLE; Schema: S.chema; Owner: postgres
--

CREATE TABLE "S.chema"."Part" (
    "Id" integer NOT NULL,
    k text NOT NULL,
    "from" integer
)
PARTITION BY LIST (k);


ALTER TABLE "S.chema"."Part" OWNER TO postgres;

SET default_table_access_method = heap;

--
-- Name: Part_a; Type: TABLE; Schema: S.chema; Owner: postgres
--

CREATE TABLE "S.chema"."Part_a" (
    "Id" integer NOT NULL,
    k text NOT NULL,
    "from" integer
);


ALTER TABLE "S.chema"."Part_a" OWNER TO postgres;

--
-- Name: Part_b; Type: TABLE; Schema: S.chema; Owner: postgres
--

CREATE TABLE "S.chema"."Part_b" (
    "from" integer,
    k text NOT NULL,
    "Id" integer NOT NULL
);


ALTER TABLE "S.chema"."Part_b" OWNER TO postgres;

--
-- Name: parent; Type: TABLE; Schema: app; Owner: postgres
--

CREATE TABLE app.parent (
    id integer NOT NULL,
    v integer NOT NULL,
    w text
);


ALTER TABLE app.parent OWNER TO postgres;

--
-- Name: child; Type: TABLE; Schema: app; Owner: postgres
--

CREATE TABLE app.child (
    id integer,
    extra text,
    v integer,
    w text
)
INHERITS (app.parent);


ALTER TABLE app.child OWNER TO postgres;

--
-- Name: child2; Type: TABLE; Schema: app; Owner: postgres
--

CREATE TABLE app.child2 (
    v integer
)
INHERITS (app.parent, app.child);


ALTER TABLE app.child2 OWNER TO postgres;

--
-- Name: child3; Type: TABLE; Schema: app; Owner: postgres
--

CREATE TABLE app.child3 (
)
INHERITS (app.child);


ALTER TABLE app.child3 OWNER TO postgres;

--
-- Name: empty; Type: TABLE; Schema: app; Owner: postgres
--

CREATE TABLE app.empty (
);


ALTER TABLE app.empty OWNER TO postgres;

--
-- Name: everything; Type: TABLE; Schema: app; Owner: postgres
--

CREATE TABLE app.everything (
    id bigint NOT NULL,
    n integer NOT NULL,
    s integer NOT NULL,
    big bigint NOT NULL,
    m app.mood[] DEFAULT '{a}'::app.mood[],
    p app.posint,
    c app.code,
    pr app.pair,
    sp app.span,
    gen integer GENERATED ALWAYS AS ((n * 2)) STORED,
    t text DEFAULT 'x;y'::text NOT NULL COLLATE app.german,
    u character varying(10),
    du integer,
    ni integer,
    iv interval day to second(3),
    ts timestamp(3) with time zone DEFAULT now(),
    bits bit varying(4),
    nm "char",
    bp bpchar,
    arr numeric(4,1)[],
    CONSTRAINT chk CHECK (((n > 0) AND (t <> ';'::text)))
);


ALTER TABLE app.everything OWNER TO postgres;

--
-- Name: TABLE everything; Type: COMMENT; Schema: app; Owner: postgres
--

COMMENT ON TABLE app.everything IS 'a; comment with '' quote and $$';


--
-- Name: COLUMN everything.t; Type: COMMENT; Schema: app; Owner: postgres
--

COMMENT ON COLUMN app.everything.t IS 'x';


--
-- Name: everything_big_seq; Type: SEQUENCE; Schema: app; Owner: postgres
--

CREATE SEQUENCE app.everything_big_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE app.everything_big_seq OWNER TO postgres;

--
-- Name: everything_big_seq; Type: SEQUENCE OWNED BY; Schema: app; Owner: postgres
--

ALTER SEQUENCE app.everything_big_seq OWNED BY app.everything.big;


--
-- Name: everything_id_seq; Type: SEQUENCE; Schema: app; Owner: postgres
--

ALTER TABLE app.everything ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME app.everything_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: everything_n_seq; Type: SEQUENCE; Schema: app; Owner: postgres
--

ALTER TABLE app.everything ALTER COLUMN n ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME app.everything_n_seq
    START WITH 10
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: everything_s_seq; Type: SEQUENCE; Schema: app; Owner: postgres
--

CREATE SEQUENCE app.everything_s_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE app.everything_s_seq OWNER TO postgres;

--
-- Name: everything_s_seq; Type: SEQUENCE OWNED BY; Schema: app; Owner: postgres
--

ALTER SEQUENCE app.everything_s_seq OWNED BY app.everything.s;


--
-- Name: likes; Type: TABLE; Schema: app; Owner: postgres
--

CREATE TABLE app.likes (
    x integer,
    id bigint NOT NULL,
    n integer NOT NULL,
    s integer DEFAULT nextval('app.everything_s_seq'::regclass) NOT NULL,
    big bigint DEFAULT nextval('app.everything_big_seq'::regclass) NOT NULL,
    m app.mood[] DEFAULT '{a}'::app.mood[],
    p app.posint,
    c app.code,
    pr app.pair,
    sp app.span,
    gen integer GENERATED ALWAYS AS ((n * 2)) STORED,
    t text DEFAULT 'x;y'::text NOT NULL COLLATE app.german,
    u character varying(10),
    du integer,
    ni integer,
    iv interval day to second(3),
    ts timestamp(3) with time zone DEFAULT now(),
    bits bit varying(4),
    nm "char",
    bp bpchar,
    arr numeric(4,1)[],
    CONSTRAINT chk CHECK (((n > 0) AND (t <> ';'::text)))
);


ALTER TABLE app.likes OWNER TO postgres;

--
-- Name: COLUMN likes.t; Type: COMMENT; Schema: app; Owner: postgres
--

COMMENT ON COLUMN app.likes.t IS 'x';


--
-- Name: likes_id_seq; Type: SEQUENCE; Schema: app; Owner: postgres
--

ALTER TABLE app.likes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME app.likes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: likes_n_seq; Type: SEQUENCE; Schema: app; Owner: postgres
--

ALTER TABLE app.likes ALTER COLUMN n ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME app.likes_n_seq
    START WITH 10
    INCREMENT BY 1
    NO MINVALUE
    MAXVALUE 2147483647
    CACHE 1
);


--
-- Name: lone; Type: SEQUENCE; Schema: app; Owner: postgres
--

CREATE SEQUENCE app.lone
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE app.lone OWNER TO postgres;

--
-- Name: v; Type: VIEW; Schema: app; Owner: postgres
--

CREATE VIEW app.v WITH (security_barrier='true') AS
 SELECT everything.id AS "Col",
    everything.t AS y
   FROM app.everything
  WHERE (everything.t <> ';'::text)
  WITH LOCAL CHECK OPTION;


ALTER TABLE app.v OWNER TO postgres;

--
-- Name: mv; Type: MATERIALIZED VIEW; Schema: app; Owner: postgres
--

CREATE MATERIALIZED VIEW app.mv AS
 SELECT count(*) AS n
   FROM app.v
  WITH NO DATA;


ALTER TABLE app.mv OWNER TO postgres;

--
-- Name: rec; Type: VIEW; Schema: app; Owner: postgres
--

CREATE VIEW app.rec AS
 WITH RECURSIVE r(n) AS (
         SELECT 1 AS "?column?"
        UNION ALL
         SELECT (r_1.n + 1)
           FROM r r_1
          WHERE (r_1.n < 5)
        )
 SELECT r.n
   FROM r;


ALTER TABLE app.rec OWNER TO postgres;

--
-- Name: repl; Type: TABLE; Schema: app; Owner: postgres
--

CREATE TABLE app.repl (
    a integer NOT NULL,
    b integer
);

ALTER TABLE ONLY app.repl REPLICA IDENTITY FULL;


ALTER TABLE app.repl OWNER TO postgres;

--
-- Name: rv; Type: VIEW; Schema: app; Owner: postgres
--

CREATE VIEW app.rv AS
 WITH RECURSIVE rv(n) AS (
         VALUES (1)
        UNION ALL
         SELECT (rv_1.n + 1)
           FROM rv rv_1
          WHERE (rv_1.n < 9)
        )
 SELECT rv.n
   FROM rv;


ALTER TABLE app.rv OWNER TO postgres;

--
-- Name: typed; Type: TABLE; Schema: app; Owner: postgres
--

CREATE TABLE app.typed OF app.pair (
    a NOT NULL
);


ALTER TABLE app.typed OWNER TO postgres;

--
-- Name: u; Type: TABLE; Schema: app; Owner: postgres
--

CREATE UNLOGGED TABLE app.u (
    a integer,
    b text
)
WITH (fillfactor='50', autovacuum_enabled=off);
ALTER TABLE ONLY app.u ALTER COLUMN a SET STATISTICS 100;
ALTER TABLE ONLY app.u ALTER COLUMN b SET STORAGE EXTERNAL;
ALTER TABLE ONLY app.u ALTER COLUMN b SET COMPRESSION pglz;


ALTER TABLE app.u OWNER TO postgres;

--
-- Name: Odd Names; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public."Odd Names" (
    "select" integer,
    "Group By" text,
    "a""b" numeric,
    "ünï" text
);


ALTER TABLE public."Odd Names" OWNER TO postgres;

--
-- Name: parent_t; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.parent_t (
    id integer,
    v integer
);


ALTER TABLE public.parent_t OWNER TO postgres;

--
-- Name: child_t; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.child_t (
    extra text
)
INHERITS (public.parent_t);


ALTER TABLE public.child_t OWNER TO postgres;

--
-- Name: customer; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.customer (
    c_custkey integer NOT NULL,
    c_name character varying(25) NOT NULL,
    c_address character varying(40) NOT NULL,
    c_nationkey integer NOT NULL,
    c_phone character(15) NOT NULL,
    c_acctbal numeric(15,2) NOT NULL,
    c_mktsegment character(10) NOT NULL,
    c_comment character varying(117) NOT NULL
);


ALTER TABLE public.customer OWNER TO postgres;

--
-- Name: dept; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.dept (
    id integer NOT NULL,
    name text,
    region text,
    budget numeric(12,2),
    parent_id integer
);


ALTER TABLE public.dept OWNER TO postgres;

--
-- Name: edges; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.edges (
    src integer,
    dst integer,
    w integer
);


ALTER TABLE public.edges OWNER TO postgres;

--
-- Name: emp; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.emp (
    id integer NOT NULL,
    dept_id integer,
    mgr_id integer,
    name text NOT NULL,
    salary numeric(10,2),
    grade smallint,
    hired date,
    active boolean,
    tags text[],
    extra jsonb
);


ALTER TABLE public.emp OWNER TO postgres;

--
-- Name: events; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.events (
    kind text,
    emp_id integer,
    val integer,
    w double precision,
    ts timestamp without time zone,
    payload jsonb
);


ALTER TABLE public.events OWNER TO postgres;

--
-- Name: exo; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.exo (
    k integer,
    f8 double precision,
    f4 real,
    n numeric,
    ct public.citext,
    cc text COLLATE public.ci,
    bp character(5),
    iv interval,
    tz timestamp with time zone,
    tt time with time zone,
    j json,
    jb jsonb,
    bt bit(4),
    mo money,
    m public.mood,
    p public.posint,
    c public.pair,
    u uuid,
    ip inet,
    ba bytea,
    rg int4range,
    arr integer[],
    pt point,
    tv tsvector
);


ALTER TABLE public.exo OWNER TO postgres;

--
-- Name: gen_t; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.gen_t (
    id integer NOT NULL,
    a integer,
    b integer GENERATED ALWAYS AS ((a * 2)) STORED,
    c text DEFAULT 'x'::text,
    d date
);


ALTER TABLE public.gen_t OWNER TO postgres;

--
-- Name: lineitem; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.lineitem (
    l_orderkey integer NOT NULL,
    l_partkey integer NOT NULL,
    l_suppkey integer NOT NULL,
    l_linenumber integer NOT NULL,
    l_quantity numeric(15,2) NOT NULL,
    l_extendedprice numeric(15,2) NOT NULL,
    l_discount numeric(15,2) NOT NULL,
    l_tax numeric(15,2) NOT NULL,
    l_returnflag character(1) NOT NULL,
    l_linestatus character(1) NOT NULL,
    l_shipdate date NOT NULL,
    l_commitdate date NOT NULL,
    l_receiptdate date NOT NULL,
    l_shipinstruct character(25) NOT NULL,
    l_shipmode character(10) NOT NULL,
    l_comment character varying(44) NOT NULL
);


ALTER TABLE public.lineitem OWNER TO postgres;

--
-- Name: meas; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.meas (
    city integer NOT NULL,
    day date NOT NULL,
    temp integer,
    unit text
)
PARTITION BY RANGE (day);


ALTER TABLE public.meas OWNER TO postgres;

--
-- Name: meas_2024; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.meas_2024 (
    city integer NOT NULL,
    day date NOT NULL,
    temp integer,
    unit text
);


ALTER TABLE public.meas_2024 OWNER TO postgres;

--
-- Name: meas_2025; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.meas_2025 (
    city integer NOT NULL,
    day date NOT NULL,
    temp integer,
    unit text
)
PARTITION BY LIST (city);


ALTER TABLE public.meas_2025 OWNER TO postgres;

--
-- Name: meas_2025_a; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.meas_2025_a (
    city integer NOT NULL,
    day date NOT NULL,
    temp integer,
    unit text
);


ALTER TABLE public.meas_2025_a OWNER TO postgres;

--
-- Name: meas_2025_b; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.meas_2025_b (
    city integer NOT NULL,
    day date NOT NULL,
    temp integer,
    unit text
);


ALTER TABLE public.meas_2025_b OWNER TO postgres;

--
-- Name: nation; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.nation (
    n_nationkey integer NOT NULL,
    n_name character(25) NOT NULL,
    n_regionkey integer NOT NULL,
    n_comment character varying(152)
);


ALTER TABLE public.nation OWNER TO postgres;

--
-- Name: orders; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.orders (
    o_orderkey integer NOT NULL,
    o_custkey integer NOT NULL,
    o_orderstatus character(1) NOT NULL,
    o_totalprice numeric(15,2) NOT NULL,
    o_orderdate date NOT NULL,
    o_orderpriority character(15) NOT NULL,
    o_clerk character(15) NOT NULL,
    o_shippriority integer NOT NULL,
    o_comment character varying(79) NOT NULL
);


ALTER TABLE public.orders OWNER TO postgres;

--
-- Name: part; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.part (
    p_partkey integer NOT NULL,
    p_name character varying(55) NOT NULL,
    p_mfgr character(25) NOT NULL,
    p_brand character(10) NOT NULL,
    p_type character varying(25) NOT NULL,
    p_size integer NOT NULL,
    p_container character(10) NOT NULL,
    p_retailprice numeric(15,2) NOT NULL,
    p_comment character varying(23) NOT NULL
);


ALTER TABLE public.part OWNER TO postgres;

--
-- Name: partsupp; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.partsupp (
    ps_partkey integer NOT NULL,
    ps_suppkey integer NOT NULL,
    ps_availqty integer NOT NULL,
    ps_supplycost numeric(15,2) NOT NULL,
    ps_comment character varying(199) NOT NULL
);


ALTER TABLE public.partsupp OWNER TO postgres;

--
-- Name: region; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.region (
    r_regionkey integer NOT NULL,
    r_name character(25) NOT NULL,
    r_comment character varying(152)
);


ALTER TABLE public.region OWNER TO postgres;

--
-- Name: sales; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.sales (
    store integer NOT NULL,
    seq integer NOT NULL,
    emp_id integer,
    sku text,
    qty integer,
    price numeric,
    sold_at timestamp without time zone,
    note character varying(20)
);


ALTER TABLE public.sales OWNER TO postgres;

--
-- Name: supplier; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.supplier (
    s_suppkey integer NOT NULL,
    s_name character(25) NOT NULL,
    s_address character varying(40) NOT NULL,
    s_nationkey integer NOT NULL,
    s_phone character(15) NOT NULL,
    s_acctbal numeric(15,2) NOT NULL,
    s_comment character varying(101) NOT NULL
);


ALTER TABLE public.supplier OWNER TO postgres;

--
-- Name: v_dept_stats; Type: VIEW; Schema: public; Owner: postgres
--

CREATE VIEW public.v_dept_stats AS
 SELECT emp.dept_id,
    count(*) AS n,
    sum(emp.salary) AS total,
    max(emp.grade) AS top_grade
   FROM public.emp
  GROUP BY emp.dept_id;


ALTER TABLE public.v_dept_stats OWNER TO postgres;

--
-- Name: v_emp_dept; Type: VIEW; Schema: public; Owner: postgres
--

CREATE VIEW public.v_emp_dept AS
 SELECT e.id,
    e.name,
    e.salary,
    e.grade,
    d.id AS dept_id,
    d.name AS dept_name,
    d.region
   FROM (public.emp e
     JOIN public.dept d ON ((d.id = e.dept_id)));


ALTER TABLE public.v_emp_dept OWNER TO postgres;

--
-- Name: v_region_stats; Type: VIEW; Schema: public; Owner: postgres
--

CREATE VIEW public.v_region_stats AS
 SELECT d.region AS reg,
    sum(s.n) AS cnt,
    sum(s.total) AS tot
   FROM (public.v_dept_stats s
     LEFT JOIN public.dept d ON ((d.id = s.dept_id)))
  GROUP BY d.region;


ALTER TABLE public.v_region_stats OWNER TO postgres;

--
-- Name: weird ;$$ --; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public."weird ;$$ --" (
    "a;b" integer,
    "/*" text,
    "数据" integer NOT NULL
);


ALTER TABLE public."weird ;$$ --" OWNER TO postgres;

--
-- Name: Part_a; Type: TABLE ATTACH; Schema: S.chema; Owner: postgres
--

ALTER TABLE ONLY "S.chema"."Part" ATTACH PARTITION "S.chema"."Part_a" FOR VALUES IN ('a');


--
-- Name: Part_b; Type: TABLE ATTACH; Schema: S.chema; Owner: postgres
--

ALTER TABLE ONLY "S.chema"."Part" ATTACH PARTITION "S.chema"."Part_b" FOR VALUES IN ('b;');


--
-- Name: meas_2024; Type: TABLE ATTACH; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.meas ATTACH PARTITION public.meas_2024 FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');


--
-- Name: meas_2025; Type: TABLE ATTACH; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.meas ATTACH PARTITION public.meas_2025 FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');


--
-- Name: meas_2025_a; Type: TABLE ATTACH; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.meas_2025 ATTACH PARTITION public.meas_2025_a FOR VALUES IN (1, 2, 3);


--
-- Name: meas_2025_b; Type: TABLE ATTACH; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.meas_2025 ATTACH PARTITION public.meas_2025_b DEFAULT;


--
-- Name: everything s; Type: DEFAULT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.everything ALTER COLUMN s SET DEFAULT nextval('app.everything_s_seq'::regclass);


--
-- Name: everything big; Type: DEFAULT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.everything ALTER COLUMN big SET DEFAULT nextval('app.everything_big_seq'::regclass);


--
-- Name: Part Part_pkey; Type: CONSTRAINT; Schema: S.chema; Owner: postgres
--

ALTER TABLE ONLY "S.chema"."Part"
    ADD CONSTRAINT "Part_pkey" PRIMARY KEY ("Id", k);


--
-- Name: Part_a Part_a_pkey; Type: CONSTRAINT; Schema: S.chema; Owner: postgres
--

ALTER TABLE ONLY "S.chema"."Part_a"
    ADD CONSTRAINT "Part_a_pkey" PRIMARY KEY ("Id", k);


--
-- Name: Part_b Part_b_Id_key; Type: CONSTRAINT; Schema: S.chema; Owner: postgres
--

ALTER TABLE ONLY "S.chema"."Part_b"
    ADD CONSTRAINT "Part_b_Id_key" UNIQUE ("Id");


--
-- Name: Part_b Part_b_pkey; Type: CONSTRAINT; Schema: S.chema; Owner: postgres
--

ALTER TABLE ONLY "S.chema"."Part_b"
    ADD CONSTRAINT "Part_b_pkey" PRIMARY KEY ("Id", k);


--
-- Name: everything U n; Type: CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.everything
    ADD CONSTRAINT "U n" UNIQUE (t, u);


--
-- Name: child child_v_key; Type: CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.child
    ADD CONSTRAINT child_v_key UNIQUE (v);


--
-- Name: everything everything_du_key; Type: CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.everything
    ADD CONSTRAINT everything_du_key UNIQUE (du) DEFERRABLE;


--
-- Name: everything everything_pkey; Type: CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.everything
    ADD CONSTRAINT everything_pkey PRIMARY KEY (id);


--
-- Name: everything everything_u_key; Type: CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.everything
    ADD CONSTRAINT everything_u_key UNIQUE (u);


--
-- Name: likes likes_du_key; Type: CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.likes
    ADD CONSTRAINT likes_du_key UNIQUE (du) DEFERRABLE;


--
-- Name: likes likes_pkey; Type: CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.likes
    ADD CONSTRAINT likes_pkey PRIMARY KEY (id);


--
-- Name: likes likes_t_u_key; Type: CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.likes
    ADD CONSTRAINT likes_t_u_key UNIQUE (t, u);


--
-- Name: likes likes_u_key; Type: CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.likes
    ADD CONSTRAINT likes_u_key UNIQUE (u);


--
-- Name: parent parent_pkey; Type: CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.parent
    ADD CONSTRAINT parent_pkey PRIMARY KEY (id);


--
-- Name: repl repl_a_key; Type: CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.repl
    ADD CONSTRAINT repl_a_key UNIQUE (a);


--
-- Name: customer customer_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.customer
    ADD CONSTRAINT customer_pkey PRIMARY KEY (c_custkey);


--
-- Name: dept dept_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.dept
    ADD CONSTRAINT dept_pkey PRIMARY KEY (id);


--
-- Name: emp emp_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.emp
    ADD CONSTRAINT emp_pkey PRIMARY KEY (id);


--
-- Name: gen_t gen_t_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.gen_t
    ADD CONSTRAINT gen_t_pkey PRIMARY KEY (id);


--
-- Name: lineitem lineitem_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.lineitem
    ADD CONSTRAINT lineitem_pkey PRIMARY KEY (l_orderkey, l_linenumber);


--
-- Name: nation nation_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.nation
    ADD CONSTRAINT nation_pkey PRIMARY KEY (n_nationkey);


--
-- Name: orders orders_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (o_orderkey);


--
-- Name: part part_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.part
    ADD CONSTRAINT part_pkey PRIMARY KEY (p_partkey);


--
-- Name: partsupp partsupp_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.partsupp
    ADD CONSTRAINT partsupp_pkey PRIMARY KEY (ps_partkey, ps_suppkey);


--
-- Name: region region_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.region
    ADD CONSTRAINT region_pkey PRIMARY KEY (r_regionkey);


--
-- Name: sales sales_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.sales
    ADD CONSTRAINT sales_pkey PRIMARY KEY (store, seq);


--
-- Name: supplier supplier_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.supplier
    ADD CONSTRAINT supplier_pkey PRIMARY KEY (s_suppkey);


--
-- Name: weird ;$$ -- weird ;$$ --_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public."weird ;$$ --"
    ADD CONSTRAINT "weird ;$$ --_pkey" PRIMARY KEY ("数据");


--
-- Name: Part_from_k_idx; Type: INDEX; Schema: S.chema; Owner: postgres
--

CREATE UNIQUE INDEX "Part_from_k_idx" ON ONLY "S.chema"."Part" USING btree ("from", k);


--
-- Name: Part_a_from_k_idx; Type: INDEX; Schema: S.chema; Owner: postgres
--

CREATE UNIQUE INDEX "Part_a_from_k_idx" ON "S.chema"."Part_a" USING btree ("from", k);


--
-- Name: Part_b_from_k_idx; Type: INDEX; Schema: S.chema; Owner: postgres
--

CREATE UNIQUE INDEX "Part_b_from_k_idx" ON "S.chema"."Part_b" USING btree ("from", k);


--
-- Name: coll_i; Type: INDEX; Schema: app; Owner: postgres
--

CREATE UNIQUE INDEX coll_i ON app.everything USING btree (t COLLATE "C");


--
-- Name: everything_n_t_idx; Type: INDEX; Schema: app; Owner: postgres
--

CREATE UNIQUE INDEX everything_n_t_idx ON app.everything USING btree (n) INCLUDE (t);


--
-- Name: expr_i; Type: INDEX; Schema: app; Owner: postgres
--

CREATE UNIQUE INDEX expr_i ON app.everything USING btree (lower(t));


--
-- Name: likes_lower_idx; Type: INDEX; Schema: app; Owner: postgres
--

CREATE UNIQUE INDEX likes_lower_idx ON app.likes USING btree (lower(t));


--
-- Name: likes_n_t_idx; Type: INDEX; Schema: app; Owner: postgres
--

CREATE UNIQUE INDEX likes_n_t_idx ON app.likes USING btree (n) INCLUDE (t);


--
-- Name: likes_ni_idx; Type: INDEX; Schema: app; Owner: postgres
--

CREATE UNIQUE INDEX likes_ni_idx ON app.likes USING btree (ni) NULLS NOT DISTINCT;


--
-- Name: likes_s_idx; Type: INDEX; Schema: app; Owner: postgres
--

CREATE UNIQUE INDEX likes_s_idx ON app.likes USING btree (s) WHERE (n > 1);


--
-- Name: likes_t_idx; Type: INDEX; Schema: app; Owner: postgres
--

CREATE UNIQUE INDEX likes_t_idx ON app.likes USING btree (t COLLATE "C");


--
-- Name: likes_u_idx; Type: INDEX; Schema: app; Owner: postgres
--

CREATE UNIQUE INDEX likes_u_idx ON app.likes USING btree (u varchar_pattern_ops);


--
-- Name: mv_n_idx; Type: INDEX; Schema: app; Owner: postgres
--

CREATE UNIQUE INDEX mv_n_idx ON app.mv USING btree (n);


--
-- Name: nnd_i; Type: INDEX; Schema: app; Owner: postgres
--

CREATE UNIQUE INDEX nnd_i ON app.everything USING btree (ni) NULLS NOT DISTINCT;


--
-- Name: ops_i; Type: INDEX; Schema: app; Owner: postgres
--

CREATE UNIQUE INDEX ops_i ON app.everything USING btree (u varchar_pattern_ops);


--
-- Name: part_i; Type: INDEX; Schema: app; Owner: postgres
--

CREATE UNIQUE INDEX part_i ON app.everything USING btree (s) WHERE (n > 1);


--
-- Name: Part_a_from_k_idx; Type: INDEX ATTACH; Schema: S.chema; Owner: postgres
--

ALTER INDEX "S.chema"."Part_from_k_idx" ATTACH PARTITION "S.chema"."Part_a_from_k_idx";


--
-- Name: Part_a_pkey; Type: INDEX ATTACH; Schema: S.chema; Owner: postgres
--

ALTER INDEX "S.chema"."Part_pkey" ATTACH PARTITION "S.chema"."Part_a_pkey";


--
-- Name: Part_b_from_k_idx; Type: INDEX ATTACH; Schema: S.chema; Owner: postgres
--

ALTER INDEX "S.chema"."Part_from_k_idx" ATTACH PARTITION "S.chema"."Part_b_from_k_idx";


--
-- Name: Part_b_pkey; Type: INDEX ATTACH; Schema: S.chema; Owner: postgres
--

ALTER INDEX "S.chema"."Part_pkey" ATTACH PARTITION "S.chema"."Part_b_pkey";


--
-- Name: st1; Type: STATISTICS; Schema: app; Owner: postgres
--

CREATE STATISTICS app.st1 ON a, b FROM app.u;


ALTER STATISTICS app.st1 OWNER TO postgres;

--
-- Name: u ru; Type: RULE; Schema: app; Owner: postgres
--

CREATE RULE ru AS
    ON INSERT TO app.u DO ( DELETE FROM app.repl
  WHERE (repl.a = 1);
 SELECT 1 AS "?column?";
);


--
-- Name: u tr; Type: TRIGGER; Schema: app; Owner: postgres
--

CREATE TRIGGER tr AFTER INSERT ON app.u FOR EACH STATEMENT EXECUTE FUNCTION app.trg();


--
-- Name: repl repl_b_fkey; Type: FK CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.repl
    ADD CONSTRAINT repl_b_fkey FOREIGN KEY (b) REFERENCES app.parent(id) ON DELETE CASCADE;


--
-- Name: everything; Type: ROW SECURITY; Schema: app; Owner: postgres
--

ALTER TABLE app.everything ENABLE ROW LEVEL SECURITY;

--
-- Name: everything pol; Type: POLICY; Schema: app; Owner: postgres
--

CREATE POLICY pol ON app.everything USING ((n > 1));


--
-- Name: pub; Type: PUBLICATION; Schema: -; Owner: postgres
--

CREATE PUBLICATION pub WITH (publish = 'insert, update, delete, truncate');


ALTER PUBLICATION pub OWNER TO postgres;

--
-- Name: pub repl; Type: PUBLICATION TABLE; Schema: app; Owner: postgres
--

ALTER PUBLICATION pub ADD TABLE ONLY app.repl;


--
-- Name: TABLE parent; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.parent TO PUBLIC;


--
-- Name: TABLE child; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.child TO PUBLIC;


--
-- Name: TABLE child2; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.child2 TO PUBLIC;


--
-- Name: TABLE child3; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.child3 TO PUBLIC;


--
-- Name: TABLE empty; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.empty TO PUBLIC;


--
-- Name: TABLE everything; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.everything TO PUBLIC;


--
-- Name: TABLE likes; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.likes TO PUBLIC;


--
-- Name: TABLE v; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.v TO PUBLIC;


--
-- Name: TABLE mv; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.mv TO PUBLIC;


--
-- Name: TABLE rec; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.rec TO PUBLIC;


--
-- Name: TABLE repl; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.repl TO PUBLIC;


--
-- Name: TABLE rv; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.rv TO PUBLIC;


--
-- Name: TABLE typed; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.typed TO PUBLIC;


--
-- Name: TABLE u; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.u TO PUBLIC;


--
-- PostgreSQL database dump complete
--

\unrestrict rjhpHfGmEc3LRVYpQllagAr35pt29vDpN2Hiu5v9dMrdcnJ3CNEkYH6CUDWXwcr

