%% p1_pgsql. escript does not read the first line.
main(_) ->
    Client = os:getenv("CLIENT"),
    application:load(p1_pgsql),
    {ok, Version} = application:get_key(p1_pgsql, vsn),
    io:format("version ~s ~s~n", [Client, Version]),
    {ok, C} = pgsql:connect([{host, os:getenv("HOST")}, {port, list_to_integer(os:getenv("PORT"))},
                             {user, os:getenv("USER")}, {password, os:getenv("PASSWORD")}, {database, os:getenv("DB")}]),
    One = fun(SQL) ->
                  {ok, [{"SELECT 1", _, [[Id]]}]} = pgsql:squery(C, SQL),
                  number(Id)
          end,
    Checks = [{"squery", fun() -> {One("SELECT next_id('orders')"), One("SELECT next_id('orders')")} end},
              {"prepare, execute", fun() ->
                      {ok, _, _, _} = pgsql:prepare(C, "next", "SELECT next_id($1)"),
                      Run = fun() -> {ok, {_, [[Id]]}} = pgsql:execute(C, "next", ["orders"]), number(Id) end,
                      {Run(), Run()}
              end},
              {"transaction", fun() ->
                      {ok, _} = pgsql:squery(C, "BEGIN"),
                      Ids = {One("SELECT next_id('orders')"), One("SELECT next_id('orders')")},
                      {ok, _} = pgsql:squery(C, "COMMIT"),
                      Ids
              end}],
    Failed = [What || {What, F} <- Checks, not check(Client, What, F)],
    halt(case Failed of [] -> 0; _ -> 1 end).

number({_, Id}) -> number(Id);
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
