create table groups (g int primary key, name text not null);
create table items (id int primary key, g int, v int not null);
