const read =
  `id;name;x;note;o;o.name;o.id;o.x;o.o;(o).note;(o).name;o.*;*;o::text;name::text;id::text;cast(o as text);row(o);
  array[name];array(select name);(select o);(select name);max(name);count(o);coalesce(name, id);
  case when o is null then 1 end;name || '';lower(name);x as id;row_to_json(o);o = o`
    .split(';')
    .map((text) => text.trim())

const from =
  `orders as o;orders as o(name, id);orders as o(id, x, name);orders o(x, total, name);orders as name;orders as id;
  orders as x;(orders cross join users) as j(a, b, name);(orders cross join users) as name;
  (orders join users on 1 = 1) as o(id, x, name);orders o join users name on 1 = 1;(select * from orders) as o(id, x, name);
  (select note from orders) as o(name);(select id, note from orders) as o(x, name);(select id from orders) as o(name);
  users o, lateral (select note from orders) as l(name);orders o, lateral (select o.note) as name(name);
  orders o join users using (note);orders o natural join users;(table orders) as o(id, x, name);
  (values (1, 2)) as o(id, name);generate_series(1, 2) as name;unnest(array(select note from orders)) as o(name);
  orders o where note like 'f%';orders o group by note;orders o order by note`
    .split(';')
    .map((text) => text.trim())

const before =
  `with o(name) as (select note from orders);with orders as (select note as name from orders);
  with o as (select id, note from orders);with orders(id, x, name) as (select * from orders)`
    .split(';')
    .map((text) => text.trim())

/** Statements that try to read columns of `orders` besides `id`, under other names or as whole rows. */
export function columnAttacks(): readonly string[] {
  const plain = read.flatMap((column) => from.map((table) => `select ${column} from ${table}`))
  const named = before.flatMap((start) =>
    read.flatMap((column) =>
      ['o', 'orders', 'orders as o'].map((table) => `${start} select ${column} from ${table}`),
    ),
  )
  return [...plain, ...named]
}
