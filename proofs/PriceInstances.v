(* Bids that meet all that the theorems of revenue ask for, and reach their bounds; and what is wrong with constants a little
   smaller. *)

From Coq Require Import Reals Lra Lia ZArith List.
From Discreet Require Import Records Price.
Import ListNotations.
Open Scope R_scope.

(* Compares all prices with all bids. *)
Ltac sell :=
  unfold revenue, bids_at, sold, reach; cbn [tally app]; unfold pays;
  repeat match goal with |- context [Rle_dec ?price ?bid] => destruct (Rle_dec price bid); try lra end;
  cbn; try lra.

Lemma two_bids_more : unit_more 2 [1] [1; 4; 4].
Proof. exists [1], [4; 4], []. split; [reflexivity|split; [reflexivity|cbn; lia]]. Qed.

Lemma two_bids_moved : unit_replaced 2 [3; 3] [4; 1].
Proof. exists [], [3; 3], [4; 1], []. split; [reflexivity|split; [reflexivity|split; cbn; lia]]. Qed.

Lemma no_supply : forall most, None = Some most -> (0 <= most)%Z.
Proof. discriminate. Qed.

Lemma one_for_sale : forall most, Some 1%Z = Some most -> (0 <= most)%Z.
Proof. intros most same. injection same as <-. lia. Qed.

(* Prices up to 4, two units a bidder: 8 at the price 4, and nothing at 0. *)
Example revenue_add_remove_instance :
  revenue None [1; 4; 4] 4 - revenue None [1] 4 = 8 /\ revenue None [1; 4; 4] 0 - revenue None [1] 0 = 0 /\
  forall r, 0 <= r <= 4 -> 0 <= revenue None [1; 4; 4] r - revenue None [1] r <= 4 * 2.
Proof.
  split; [sell|split; [sell|]].
  apply (revenue_add_remove None 2 4 _ _ ltac:(lia) no_supply two_bids_more).
Qed.

(* One of them moves his two bids: 4 more at the price 4, 3 less at 3. *)
Example revenue_replace_one_instance :
  revenue None [4; 1] 4 - revenue None [3; 3] 4 = 4 /\ revenue None [4; 1] 3 - revenue None [3; 3] 3 = -3 /\
  forall r s, 0 <= r <= 4 -> 0 <= s <= 4 ->
    (revenue None [4; 1] r - revenue None [3; 3] r) - (revenue None [4; 1] s - revenue None [3; 3] s) <= 4 * 2.
Proof.
  split; [sell|split; [sell|]].
  apply (revenue_replace_one None 2 4 _ _ ltac:(lia) no_supply two_bids_moved).
Qed.

(* The bound of a spread is reached by two bids of 4 that go to 0. *)
Example revenue_spread_is_reached :
  (revenue None [0; 0] 0 - revenue None [4; 4] 0) - (revenue None [0; 0] 4 - revenue None [4; 4] 4) = 4 * 2.
Proof. sell. Qed.

Example revenue_of_one_unit_is_monotonic_instance :
  reach (Some 1%Z) 2 = 1%Z /\
  ((forall r, 0 <= r -> revenue (Some 1%Z) [3; 3] r <= revenue (Some 1%Z) [4; 1] r) \/
   (forall r, 0 <= r -> revenue (Some 1%Z) [4; 1] r <= revenue (Some 1%Z) [3; 3] r)).
Proof.
  split; [reflexivity|].
  apply (revenue_of_one_unit_is_monotonic (Some 1%Z) 2 _ _ ltac:(lia) one_for_sale eq_refl two_bids_moved).
Qed.

(* ---- Constants a little smaller would be wrong ---- *)

Lemma one_unit_is_no_bound_for_two :
  unit_more 2 [1] [1; 4; 4] /\ ~ revenue None [1; 4; 4] 4 - revenue None [1] 4 <= 4 * 1.
Proof. split; [exact two_bids_more|]. destruct revenue_add_remove_instance as [reached _]. rewrite reached. lra. Qed.

Lemma two_units_are_not_monotonic :
  unit_replaced 2 [3; 3] [4; 1] /\
  revenue None [3; 3] 4 < revenue None [4; 1] 4 /\ revenue None [4; 1] 3 < revenue None [3; 3] 3.
Proof. split; [exact two_bids_moved|]. destruct revenue_replace_one_instance as [up [down _]]. split; lra. Qed.

Lemma half_of_the_spread_is_too_little :
  unit_replaced 2 [4; 4] [0; 0] /\
  ~ (revenue None [0; 0] 0 - revenue None [4; 4] 0) - (revenue None [0; 0] 4 - revenue None [4; 4] 4) <= 4.
Proof.
  split; [exists [], [4; 4], [0; 0], []; split; [reflexivity|split; [reflexivity|split; cbn; lia]]|].
  rewrite revenue_spread_is_reached. lra.
Qed.
