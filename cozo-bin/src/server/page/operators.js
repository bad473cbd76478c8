// What the operators of a plan do, in words.

const OPERATORS = {
  load_stored: ['scan', 'reads all rows of a stored relation'],
  load_stored_with_validity: ['scan as of a time', 'reads the rows of a stored relation that were valid at a time'],
  load_stored_range: ['range scan', 'reads the rows of a stored relation whose key lies between bounds'],
  stored_prefix_join: ['look-up', 'finds rows of a stored relation by the beginning of their key, for each row that comes in'],
  stored_mat_join: ['hash join', 'reads a stored relation once into a hash table, and finds the fitting rows for each row that comes in'],
  stored_equal_join: ['join by equality', 'joins the rows of a stored relation whose values are equal to those of the row that comes in'],
  stored_prefix_exists: ['test by look-up', 'keeps rows for which a stored relation has a row with this beginning of the key'],
  stored_mat_exists: ['test by hash', 'keeps rows for which a stored relation, read once into a hash table, has a fitting row'],
  stored_neg_prefix_join: ['not, by look-up', 'drops rows for which a stored relation has a row with this beginning of the key'],
  stored_neg_mat_join: ['not, by hash', 'drops rows for which a stored relation, read once into a hash table, has a fitting row'],
  load_mem: ['scan of a rule', 'reads all rows that another rule has derived'],
  mem_equal_join: ['join by equality', 'joins the derived rows whose values are equal to those of the row that comes in'],
  mem_mat_join: ['hash join', 'finds the fitting rows among those that another rule has derived, for each row that comes in'],
  mem_mat_exists: ['test by hash', 'keeps rows for which another rule has derived a fitting row'],
  mem_neg_mat_join: ['not, by hash', 'drops rows for which another rule has derived a fitting row'],
  filter: ['filter', 'keeps the rows for which the conditions hold'],
  unify: ['compute', 'computes a value for each row'],
  'multi-unify': ['unnest', 'makes a row for each item of a list'],
  distinct: ['distinct', 'drops rows that came before'],
  intersect: ['intersect', 'finds the values that several relations have in common, all at once'],
  hnsw_search: ['vector search', 'finds the rows with the nearest vectors, by an index'],
  fts_search: ['text search', 'finds the rows whose texts have the words, by an index'],
  lsh_search: ['similarity search', 'finds the rows with similar texts, by an index'],
  out: ['result', 'collects the rows of the rule, each once'],
  aggr_out: ['groups', 'groups the rows by the other columns of the head, and aggregates each group'],
  meet_aggr_out: ['groups that improve', 'aggregates while the recursion runs: a group that gets a better value goes around again'],
  algo: ['algorithm', 'runs a fixed rule on all rows of its inputs'],
};

/** The words for an operator: `{name, meaning}`, of which the latter may be empty. */
export function inWords(operator) {
  const [name, meaning] = OPERATORS[operator] ?? [operator, ''];
  return { name, meaning };
}
