/**
 * Makes a statement of MySQL or MariaDB one that SQLite's grammar reads in the same way, or nothing where the
 * two may differ: comments, variables, escapes, double quotes, numbers that run into words, reserved words.
 */
export function plainMysql(text: string): string | undefined {
  const parts: string[] = []
  let last: string | undefined
  for (let at = 0; at < text.length; at = token.lastIndex) {
    token.lastIndex = at
    const groups = token.exec(text)?.groups
    if (groups === undefined) return undefined
    const { space, word, number, name, sign } = groups
    const all = text.slice(at, token.lastIndex)
    parts.push(all)
    if (space !== undefined) {
      if (last === 'dot') return undefined
      last = undefined
      continue
    }
    if (word !== undefined && reserved.has(word.toLowerCase()) && !shared.has(word.toLowerCase())) {
      if (!/^interval$/i.test(word)) return undefined
      // `interval 7 day` is one value, as 7 is.
      interval.lastIndex = at
      const value = interval.exec(text)?.groups?.['value']
      if (value === undefined) return undefined
      parts.splice(-1, 1, value)
      token.lastIndex = interval.lastIndex
      last = 'number'
      continue
    }
    const kind = Object.keys(groups).find((key) => groups[key] !== undefined)!
    // Only signs keep apart what stands side by side; a dot stands between two names.
    const isGlued = last !== undefined && last !== 'sign' && kind !== 'sign' && kind !== 'dot'
    const isDot = kind === 'dot' && last !== 'word' && last !== 'name'
    if (isGlued && last !== 'dot') return undefined
    if (isDot || (last === 'dot' && word === undefined && name === undefined && sign !== '*')) {
      return undefined
    }
    if (number !== undefined && last === 'dot') return undefined
    last = kind
  }
  return last === 'dot' ? undefined : parts.join('')
}

const token =
  /(?<space>[ \t\r\n]+)|(?<word>[A-Za-z_][A-Za-z0-9_]*)|(?<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?![\w.$])|(?<string>'(?:[^'\\]|'')*')(?!')|(?<name>`[A-Za-z0-9_ ]+`)|(?<dot>\.)|(?<sign>!=|->>|->|<=|>=|<>|<<|>>|\|\||[-+*/%=<>(),;?&|~])(?<!--|\/\*)/iy

const interval =
  /interval[ \t\r\n]+(?<value>\d+(?:\.\d+)?|'[\d.: -]+')[ \t\r\n]+(?:microsecond|second|minute|hour|day|week|month|quarter|year)(?!\w)/iy

/** Reserved words that both grammars use alike. */
const shared = words(`
  all and as asc between by case cast collate cross current_date current_time current_timestamp desc distinct else
  except exists false from group having if in inner intersect is join left like limit not null offset on or order
  outer over partition range recursive replace right row_number rows select then true union using when where
  window with values between mod insert char character date time int integer decimal numeric double float real
  bigint smallint varchar rank dense_rank percent_rank lag lead first_value last_value nth_value ntile
`)

/** Words that MariaDB or MySQL does not take for the name of a table, a column or an alias. */
const reserved = words(`
  accessible add all alter analyse analyze and as asc asensitive before between bigint binary blob both by
  call cascade case change char character check collate column condition constraint continue convert create
  cross cube cume_dist current_date current_role current_time current_timestamp current_user cursor databases
  day_hour day_microsecond day_minute day_second dec decimal declare default delayed delete delete_domain_id
  dense_rank desc describe deterministic distinct distinctrow div do_domain_ids double drop dual each else
  elseif empty enclosed escaped except exists exit explain false fetch first_value float for force foreign
  from full fulltext function generated get grant group grouping groups having high_priority hour_microsecond
  hour_minute hour_second if ignore ignore_domain_ids in index infile inner inout insensitive insert int
  integer intersect interval into io_after_gtids io_before_gtids is iterate join json_table key keys kill lag
  last_value lateral lead leading leave left library like limit linear lines load localtime localtimestamp
  lock long longblob longtext loop low_priority manual master_bind master_demote_to_replica
  master_demote_to_slave master_ssl_verify_server_cert match maxvalue mediumblob mediumint mediumtext
  middleint minus minute_microsecond minute_second mod modifies natural no_write_to_binlog not nth_value ntile
  null numeric of offset on optimize optimizer_costs optionally or order out outer outfile over page_checksum
  parallel parse_vcol_expr partition percent_rank portion precision primary procedure purge qualify range rank
  read read_write reads real recursive ref_system_id references regexp release rename repeat replace require
  resignal restrict return returning revoke right rlike row_number rows schemas second_microsecond select
  sensitive separator set show signal smallint sounds spatial specific sql sql_big_result sql_buffer_result
  sql_cache sql_calc_found_rows sql_no_cache sql_small_result sqlexception sqlstate sqlwarning ssl starting
  stats_auto_recalc stats_persistent stats_sample_pages stored straight_join system table tablesample
  terminated then tinyblob tinyint tinytext to trailing trigger true undo union unique unlock unsigned update
  usage use using utc_date utc_time utc_timestamp values varbinary varchar varcharacter varying virtual when
  where while window with write xor year_month zerofill
`)

function words(text: string): ReadonlySet<string> {
  return new Set(text.match(/\S+/g))
}
