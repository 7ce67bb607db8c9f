create table a (id int primary key, g int not null);
create table b (id int primary key, g int not null);
create table c (id int primary key, g int not null);
create table d (id int primary key, g int not null);
create table e (id int primary key, g int not null);
