%% p1_mysql. escript does not read the first line.
main(_) ->
    Client = os:getenv("CLIENT"),
    application:load(p1_mysql),
    {ok, Version} = application:get_key(p1_mysql, vsn),
    io:format("version ~s ~s~n", [Client, Version]),
    Log = fun(_, _, _) -> ok end,
    {ok, C} = p1_mysql_conn:start(os:getenv("HOST"), list_to_integer(os:getenv("PORT")), os:getenv("USER"), os:getenv("PASSWORD"),
                                  os:getenv("DB"), Log),
    One = fun(SQL) ->
                  {data, Result} = p1_mysql_conn:fetch(C, SQL, self()),
                  [[Id]] = p1_mysql:get_result_rows(Result),
                  number(Id)
          end,
    Checks = [{"fetch", fun() -> {One("SELECT next_id('orders')"), One("SELECT next_id('orders')")} end},
              {"transaction", fun() ->
                      {updated, _} = p1_mysql_conn:fetch(C, "BEGIN", self()),
                      Ids = {One("SELECT next_id('orders')"), One("SELECT next_id('orders')")},
                      {updated, _} = p1_mysql_conn:fetch(C, "COMMIT", self()),
                      Ids
              end}],
    Failed = [What || {What, F} <- Checks, not check(Client, What, F)],
    halt(case Failed of [] -> 0; _ -> 1 end).

number(Id) when is_integer(Id) -> Id;
number(Id) when is_binary(Id) -> binary_to_integer(Id);
number(Id) -> list_to_integer(Id).

check(Client, What, F) ->
    try F() of
        {A, B} when 0 < A, A < B ->
            io:format("ok ~s ~s~n", [Client, What]),
            true;
        Other ->
            io:format("FAIL ~s ~s: ~0p~n", [Client, What, Other]),
            false
    catch
        _:Why ->
            io:format("FAIL ~s ~s: ~0p~n", [Client, What, Why]),
            false
    end.
