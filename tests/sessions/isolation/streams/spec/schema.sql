create table groups (g int primary key, name text not null);
create table items (id int primary key, g int, v int not null);
create table parts (id int primary key, item int not null references items on delete cascade);
create table lone (id int primary key, g int, v int not null);
create table cut (id int, half int, v int not null, primary key (id, half)) partition by list (half);
create table cut_1 partition of cut for values in (1);
create table cut_2 partition of cut for values in (2);
