create table numbers (k int primary key, n int not null);
