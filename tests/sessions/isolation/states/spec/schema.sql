create table items (id int primary key, g int, v int not null);
create table edges (a int not null, b int not null);
insert into items values (1, 1, 10), (2, 1, 20), (3, 2, 30);
insert into edges values (1, 2), (4, 5);
