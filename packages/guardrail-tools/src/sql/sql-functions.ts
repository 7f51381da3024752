import type { SqlDialect } from './sql-names.ts'

/** Functions that compute and nothing else, in every dialect. */
export const commonFunctions: readonly string[] = words(`
  abs avg ceil ceiling coalesce concat concat_ws count exp floor greatest ifnull instr least length lower ln log
  ltrim max min mod nullif power replace round rtrim sign sqrt substr substring sum trim upper
  row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
  date time
`)

/** The same for one dialect each. */
export const dialectFunctions: Readonly<Record<SqlDialect, readonly string[]>> = {
  postgresql: words(`
    age array_agg array_length ascii bool_and bool_or btrim cardinality char_length character_length chr corr
    date_part date_trunc div every extract initcap json_agg json_array_length json_build_object jsonb_agg
    jsonb_array_length jsonb_build_object jsonb_object_agg json_object_agg left lpad make_date mode now
    octet_length overlay percentile_cont percentile_disc position regexp_replace reverse right rpad split_part
    starts_with stddev stddev_pop stddev_samp string_agg strpos timezone to_char to_date to_number to_timestamp
    translate trunc unnest var_pop var_samp variance width_bucket
  `),
  mysql: words(`
    bit_and bit_or bit_xor char_length character_length curdate current_date current_time current_timestamp curtime
    date_add date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear elt field find_in_set format
    from_unixtime group_concat hour if isnull json_array json_contains json_extract json_length json_object
    json_unquote json_value last_day left locate log10 log2 lpad makedate microsecond minute month monthname now
    pow quarter repeat reverse right rpad second space std stddev stddev_pop stddev_samp str_to_date strcmp
    substring_index sysdate time_format timestampdiff truncate ucase lcase unix_timestamp utc_timestamp var_pop
    var_samp variance week weekday weekofyear year yearweek
  `),
  sqlite: words(`
    char datetime format glob group_concat hex iif json json_array json_array_length json_extract json_group_array
    json_group_object json_object json_quote json_type json_valid julianday like likely log10 log2 pi pow printf
    quote random strftime string_agg timediff total trunc typeof unicode unixepoch unlikely
  `),
}

function words(text: string): readonly string[] {
  return text.match(/\S+/g)!
}
